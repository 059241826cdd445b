"""The requirements of a query, found from its wording alone."""

import re

from seer_otel.judge.local.parts import asks, parts, tidy
from seer_otel.judge.local.patterns import ASPECTS, KINDS, ROLES
from seer_otel.judge.local.vocabulary import PLEASANTRIES, SMALL_TALK
from seer_otel.judge.local.words import CAPITALISED, NAME, terms, tokens

MOST = 8
"""Requirements of one query, at most."""

LONGEST = 300
"""Characters of a part; a longer one is not taken apart further."""

_WORD = rf"(?:{CAPITALISED}|\d\w*|\([^()]*\))"
_TITLE = rf"{_WORD}(?:(?:,|:|\.| -| &)? (?:(?:of|the|de|da|la|von|van|and|in) ){{0,2}}{_WORD})*"
_OR = r"(?:,? (?:or|oder|ou|o|czy|lub|nebo|или|eller) )"

_COMPARED = (
    # Who is older, A or B?
    re.compile(
        rf"^(?P<ask>(?:Which|Who)\b[^,]*?\b(?:first|last|life|\w+er|recently)\b[^,]*?),?"
        rf" (?P<a>{_TITLE}){_OR}(?P<b>{_TITLE})$"
    ),
    # Wo ist es günstiger: in A oder in B?
    re.compile(rf"^(?P<ask>.+)[,:] (?P<a>[^,:]+?){_OR}(?P<b>[^,:]+)$"),
    # Are A and B both from the same country?
    re.compile(
        r"^(?:Was|Is|Were|Are|Did|Do|Does) (?:the )?(?:directors? of )?(?:both )?(?:the )?"
        rf"(?:(?:{KINDS})s?,? )?(?P<a>{_TITLE}),? (?:or|and) (?:director of )?(?:(?:{KINDS}) )?"
        rf"(?P<b>{_TITLE}),? (?P<ask>[a-z].*)$"
    ),
    # A和B哪个更大
    re.compile(
        r"^(?P<a>[^，、。]{1,20}?)(?:和|与|與|跟|と|或者|还是)(?P<b>[^，、。]{1,20}?)(?:では|で|，)?"
        r"(?P<ask>(?:哪(?![里儿些])|谁(?!的)|どちら|どっち).*)$"
    ),
)
_DIFFER = r"(?:differ|compare|vary|the same|alike|similar|different)"
_ALIKE = (
    # How does the price of A differ from that of B?
    re.compile(
        rf"^How (?:do|does|did) (?P<ask>.+? (?:of|for|in|at)) (?P<a>.+?) {_DIFFER}"
        r" (?:from|to|with) (?:(?:that|those|the ones?) (?:of|for|in|at) )?(?P<b>.+)$",
        re.I,
    ),
    # How do the prices of A and B differ?
    re.compile(
        rf"^How (?:do|does|did) (?P<ask>.+? (?:of|for|in|at)) (?P<a>.+?) and (?P<b>.+?) {_DIFFER}$",
        re.I,
    ),
    # Are A and B sold in the same way?
    re.compile(
        r"^(?:Are|Do|Were|Did|Is|Has|Have) (?P<a>.+?) and (?P<b>.+?)"
        rf" (?P<ask>\S+ (?:(?:in|at|on|by|for) )?{_DIFFER}\b.*)$",
        re.I,
    ),
    # Is A sold in the same way as B?
    re.compile(
        r"^(?:Are|Do|Were|Did|Is|Has|Does) (?P<a>.+?)"
        r" (?P<ask>\S+ (?:\S+ ){0,2}the same (?:\w+ )?)as (?P<b>.+)$",
        re.I,
    ),
    # Is the price better in A or in B?
    re.compile(
        r"^(?:Is|Are|Was|Were) (?P<ask>.+? (?:\w+er|(?:more|less) \w+)) (?P<of>for|in|at|on|with)"
        r" (?P<a>.+?) or (?:(?P=of) )?(?P<b>.+)$",
        re.I,
    ),
    # Compare how often A and B occur.
    re.compile(
        r"^Compare (?P<ask>how \w+|.+? (?:of|for|in|at)) (?P<a>.+?) (?:and|with|to) (?P<b>.+?)"
        r"(?P<after> \w+)?$",
        re.I,
    ),
)
"""Comparisons of two things whose names need no capitals."""

_BOTH = re.compile(
    r"^(?P<ask>.*?)(?P<a>the [^,]+? of [^,]+?|how [^,]+?|what [^,]+?)"
    r"(?:,? and|,? as well as|,? plus) (?P<b>(?:the \w+(?: \w+)? (?:of|for) |how |what ).+)$",
    re.I,
)
"""Two things asked for without a question mark: "the price of A and how long it lasts"."""

_LIST = re.compile(
    rf"^(?P<ask>.*?\b(?P<many>\w+) (?:of|in|for|about|from|by|de|von|di|da) )"
    rf"(?P<items>{NAME}(?:, {NAME})*),? (?:and|und|et|y|e|en|i|oraz) (?P<last>{NAME})$"
)
_CHAINED = (
    re.compile(rf"(?:the )?(?:\w+ )?\b(?:{ROLES}) of (?:the )?(?:(?:{KINDS}) )?{_TITLE}"),
    re.compile(rf"{_TITLE}(?:['’]s|['’]) (?:\w+ )?(?:{ROLES})\b"),
    re.compile(r"the (?:\w+ ){1,2}?(?:in which|where|that|who|which|whose) [^,]+$"),
)


def enumerate_requirements(query: str) -> tuple[str, ...]:
    """
    List what is needed to answer a query: one short text each, in the query's own words.

    Empty for small talk, and for a text without a letter or digit.
    """
    if _is_small_talk(query):
        return ()
    first, *later = parts(query)
    found = [*_of_first(first), *(text for part in later for text in _compared(part) or [part])]
    return tuple(dict.fromkeys(found))[:MOST]


def _is_small_talk(query: str) -> bool:
    said = " ".join(tokens(query)[:10])
    for pleasantry in PLEASANTRIES:
        said = said.replace(pleasantry, "")
    return SMALL_TALK.issuperset(said.split())


def _of_first(part: str) -> list[str]:
    if len(part) > LONGEST:
        return [part]
    found = _compared(part) or _alike(part) or _both(part) or _listed(part) or _chained(part)
    return found or [part]


def _compared(part: str) -> list[str]:
    """Return what is to be known of each side of "Which is older, A or B?"."""
    if len(part) > LONGEST:
        return []
    found = next((match for pattern in _COMPARED if (match := pattern.match(part))), None)
    if not found or not (asks(found["ask"]) or found.start("a") < found.start("ask")):
        return []
    sides = [tidy(found["a"]), tidy(found["b"])]
    if not all(map(terms, sides)):
        return []
    aspect = next((text for pattern, text in ASPECTS if re.search(pattern, part, re.I)), None)
    if aspect and re.search(r"\bdirectors?\b", part):
        roles = [f"the director of {side}" for side in sides]
        return roles + [aspect.format(role) for role in roles]
    if aspect:
        return [aspect.format(side) for side in sides]
    return [f"{side}: {tidy(found['ask'])}" for side in sides]


def _alike(part: str) -> list[str]:
    """Return what is to be known of each side of "How does the price of A differ from B's?"."""
    found = next((match for pattern in _ALIKE if (match := pattern.match(part))), None)
    if not found:
        return []
    sides = [tidy(found["a"]), tidy(found["b"])]
    if not all(map(terms, sides)) or any(asks(side) for side in sides):
        return []
    ask = tidy(found["ask"])
    if ask.endswith((" of", " for", " in", " at")) or ask.startswith("how "):
        return [f"{ask} {side}" for side in sides]
    return [f"{side}: {ask}" for side in sides]


def _both(part: str) -> list[str]:
    """Return "the price of A" and "how long A lasts", where one sentence wants both."""
    found = _BOTH.match(part)
    if not found or not all(map(terms, (found["a"], found["b"]))):
        return []
    return [tidy(found["a"]), tidy(found["b"])]


def _listed(part: str) -> list[str]:
    """Return "the capitals of A, B and C" as one requirement for each item."""
    found = _LIST.match(part)
    if not found or not ("," in found["items"] or found["many"].endswith("s")):
        return []
    return [f"{found['ask']}{item}" for item in [*found["items"].split(", "), found["last"]]]


def _chained(part: str) -> list[str]:
    """Return "X's father" before "When was X's father born?", which cannot be told without it."""
    for pattern in _CHAINED:
        if found := pattern.search(part):
            around = set(terms(part[: found.start()])) | set(terms(part[found.end() :]))
            return [tidy(found[0]), part] if around - {"name"} else []
    return []
