"""Patterns of the local judge for questions, answers and notices, in several languages."""

import re

STOP_CHARACTERS = re.compile(
    "[的了吗呢吧是在我你您们有和与及就都也还把被请这那它他她为会要能可以个はがをにのでとも]"
)
"""Characters of Chinese and Japanese grammar: where a run is cut before it is read in pairs."""

ASKING_CHARACTERS = re.compile(
    "[谁誰什么麼哪几幾吗嗎何怎]|多[少久长大重深高远快]|是否|能否|可否|能不能|会不会|可不可以|是不是|有没有"
    "|いつ|どこ|どれ|どの|どう|どち|いくら|いくつ|なぜ|だれ|ですか|ますか|ませんか|か$"
    "|무엇|누구|언제|어디|어떻|왜|얼마|몇|니까|나요|까요|인가"
)

KINDS = "film|movie|song|album|book|novel|series|band|magazine|company|universit(?:y|ies)"
"""What may stand before a name to say what it names."""

ROLES = (
    "(?:step|grand)?(?:father|mother|parent|son|daughter)(?:-in-law)?|brother|sister|sibling|child"
    "|husband|wife|spouse|uncle|aunt|director|producer|screenwriter|writer|author|composer"
    "|performer|singer|creator|founder|inventor|owner|publisher|manufacturer|developer|president"
    "|manager|governor|mayor|capital|country|birthplace|employer"
)
"""What one thing may be for another: "the director of", "'s father"."""

ASPECTS = (
    (r"\bliv\w+ (?:a )?longer", "when {} was born and died"),
    (r"\b(?:dies?|died|death)\b", "when {} died"),
    (r"\b(?:born|birth|older|younger|oldest|youngest)\b", "when {} was born"),
    (r"\b(?:released?|came out|come out)\b", "when {} was released"),
    (r"\b(?:founded|established|formed)\b", "when {} was founded"),
    (r"\bnationality\b", "the nationality of {}"),
    (r"\b(?:located|based)\b", "where {} is located"),
    (r"\bcountry\b", "the country of {}"),
)
"""What English comparisons compare: a pattern for the question, a text for each side."""

_TIME = re.compile(
    r"\d|[一二三四五六七八九十](?:月|日|年|点|時)|\b(?:jan|feb|m[aä]r|apr|may|mai|juin|juil|jun|jul"
    r"|aug|sep|o[ck]t|nov|de[cz]|lut|kwi|maj|cze|lip|sie|wrz|paź|lis|gru)\w*",
    re.I,
)
_NUMBER = re.compile(
    r"\d|[一二三四五六七八九十百千]|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve"
    r"|hundred|thousand|million|once|twice|zwei|drei|vier|deux|trois|quatre|dos|tres|dwa|trzy)\b",
    re.I,
)
_PLACE = re.compile(
    r"(?i:\b(?:in|at|from|near|of|to|on|en|à|dans|au|im|am|nach|w|na|v|em|no|te)) "
    r"(?i:the |la |le |l['’]|der |den |dem )?[A-Z\d]|[省市县縣区區州国國镇村路街]"
)
_PEOPLE = re.compile(
    r"\b(?:is|was|an?|the|of|are|both)\s+[A-Z][\w-]*(?:an|ish|ese|ch|ic|i|ss)\b|[人国國籍]"
)

ANSWERS = (
    (re.compile(r"nationalit|citizen|nacionalid|staatsange|narodowo|国籍", re.I), _PEOPLE),
    (
        re.compile(
            r"\bwhen\b|\bwhat (?:year|date|time|day)|\b(?:date|year) of|\bwann\b|\bquand\b"
            r"|\bcuándo\b|\bquando\b|\bkiedy\b|\bkdy\b|\bwanneer\b|\bheure|\bque horas?\b"
            r"|\bktórej godz|\bкогда\b|何时|何時|什么时候|几点|いつ",
            re.I,
        ),
        _TIME,
    ),
    (
        re.compile(
            r"\bhow (?:many|much|old|long|far|tall|big|often|large|high|deep)\b|\bnumber of"
            r"|\bpopulation|\bwie (?:viele?|lange|hoch|oft|weit)|\bcombien|\bcuánt|\bile\b|\bkolik"
            r"|\bquant[oaie]s?\b|\bhoe(?:veel| lang| hoog| veel)|сколько|多[少久长大高重深]|几"
            r"|いくら|いくつ",
            re.I,
        ),
        _NUMBER,
    ),
    (
        re.compile(
            r"\bwhere\b|\bplace of|\bwh(?:ich|at) (?:city|country|state|county)\b|\bwo\b|\boù\b"
            r"|\bdónde\b|\bonde\b|\bdove\b|\bgdzie\b|\bkde\b|\bwaar\b|哪里|哪儿|どこ",
            re.I,
        ),
        _PLACE,
    ),
)
"""Kinds of answer: a pattern for the question, and one for a text that may hold the answer."""

OUTDATED = re.compile(
    r"\b(?:superseded|no longer (?:applies|valid|in force|current)|withdrawn|obsolete|outdated"
    r"|deprecated|old version|previous version|former version|expired"
    r"|nicht mehr gültig|außer kraft|ungültig|aufgehoben|überholt"
    r"|n['’]est plus|abrogée?s?|périmée?s?|caduc|caduque"
    r"|sustituid[oa]s?|derogad[oa]s?|ya no|substituíd[oa]s?|revogad[oa]s?|já não"
    r"|non più|abrogat[oaie]|superat[oaie]|vervallen|niet meer geldig|ingetrokken"
    r"|nieaktualn\w+|nie obowiązuje|uchylon\w+|neplatn\w+|nahrazen\w+"
    r"|не действует|утратил\w* силу)\b"
    r"|废止|失效|旧版|作废|不再|停用|廃止|改訂前|無効",
    re.I,
)
"""What a text says of itself, or of the rule in it, when another has taken its place."""
