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

EXPIRING = re.compile(
    r"\b(?:valid until|replaced (?:by|on|in|from)|ended? on|until \d|archived?|draft"
    r"|end of (?:life|support)|discontinued|no longer|as signed on"
    r"|ersetzt (?:durch|am|ab)|gültig bis|bis \d|nicht mehr|alte fassung|entwurf"
    r"|remplacée? (?:par|le)|valable jusqu|jusqu['’]au \d|ancienne version"
    r"|hasta el \d|válid[oa] hasta|versión anterior|até \d|válid[oa] até|versão anterior"
    r"|valid[oa] fino|fino al \d|sostituit[oa]|versione precedente|tot en met \d|vervangen door"
    r"|zastąpion\w+|ważn\w+ do|do dnia \d|stara wersja|platn\w+ do|do \d{1,2}\. ?\d"
    r"|действ\w+ до|заменен\w*)"
    r"|有效期至|截至|至\d{4}年|已被|まで有効|旧版|旧规定",
    re.I,
)
"""What a text says of a rule that has ended, or will."""

IN_FORCE = re.compile(
    r"\b(?:valid from|in force (?:since|from)|effective (?:from|since)?|current version|as of \d?"
    r"|from \d{1,2} \w+ \d{4}|replaces|supersedes|as amended|amended (?:on|by)|new version"
    r"|gültig ab|in kraft seit|aktuelle fassung|stand \d|ersetzt die|ab dem \d"
    r"|à partir du|en vigueur|version en vigueur|remplace (?:la|le|les)"
    r"|vigente desde|en vigor|versión actual|sustituye|em vigor|a partir de|versão atual|substitui"
    r"|valid[oa] dal|in vigore|versione attuale|geldig vanaf|vervangt|met ingang van"
    r"|obowiązuj\w+ od|od dnia|aktualna wersja|zastępuje|platn\w+ od|nahrazuje"
    r"|действу\w+ с|заменяет)"
    r"|起施行|现行|自\d{4}年|起生效|取代|から適用|改訂後|より施行",
    re.I,
)
"""What a text says of a rule that holds, or that has taken another's place."""

NOW = re.compile(
    r"\b(?:now|today|current|currently|latest|at present|present|in force|newest|still|nowadays"
    r"|heute|aktuell\w*|derzeit|gilt|gelten|jetzt|zurzeit|actuel\w*|aujourd['’]hui|maintenant"
    r"|hoy|actual\w*|vigente|ahora|hoje|atual\w*|agora|oggi|attual\w*|adesso"
    r"|nu|huidige?|momenteel|obecnie|teraz|aktualn\w+|dziś|dnes|nyní|současn\w+|сейчас|сегодня)\b"
    r"|现在|目前|现行|最新|如今|今は|現在|지금|현재",
    re.I,
)
"""What a query says that asks for the state of today."""

YEAR = re.compile(r"(?<!\d)(?:19[5-9]\d|20[0-4]\d)(?!\d)")

SEVERAL = re.compile(
    r"\b(?:all|each|every|both|list|which \w+ (?:are|were|have|do|can)|what are|which are|how many"
    r"|alle|jede[rsn]?|welche|beide|tous|toutes|quels|quelles|chaque|todos|todas|cada|quais|cuáles"
    r"|wszystki\w+|jakie|które|każd\w+|tutti|quali|ogni|welke|všechn\w+|které|все|какие|каждый)\b"
    r"|哪些|哪几|各|全部|所有|すべて|全て|それぞれ|모든|각각",
    re.I,
)
"""What a query says that asks for more than one thing."""
