"""Labelled questions as units: a question, its passages, and which of them are evidence."""

import hashlib
import json
import os
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from seer_otel.judge.local.requirements import enumerate_requirements

DATA = Path(os.environ.get("SEER_DATA", "data"))
"""The folder with `accuracy/` and `judge/`; the format is described in docs/embedded-judge.md."""

SOURCES = {
    "musique": "accuracy/musique.dev.jsonl",
    "hotpotqa": "accuracy/hotpotqa.dev.jsonl",
    "2wiki": "accuracy/2wiki.dev.jsonl",
    "2wiki-bm25": "accuracy/2wiki-bm25.dev.jsonl",
    "clapnq": "accuracy/clapnq.dev.jsonl",
    "desk": "accuracy/desk.train.jsonl",
} | {
    name: f"judge/{name}.jsonl"
    for name in (
        "api_docs_en",
        "cmrc2018_zh",
        "covidqa_papers",
        "faquad_pt",
        "medquad",
        "medquad_multi",
        "qmsum_meetings",
        "stard_law_zh",
        "tatqa",
        "tidb_docs_zh",
        "tldr_multi",
        "va_gov_en",
        "xquad_multi",
    )
}
"""What is trained on. `office` is not among them: it is kept for validation."""

VALIDATION = {"office": "accuracy/office.dev.jsonl"}

SIBLINGS = {"2wiki-bm25": "2wiki", "medquad_multi": "medquad"}
"""Sources of the same texts: they are left out together."""

ASKED = "asked"
"""The kind of a requirement for which only the evidence of the whole query is known: untrained."""

MANY_HOPS = ("musique", "hotpotqa", "2wiki", "2wiki-bm25")


@dataclass(frozen=True)
class Unit:
    """One question about one context, as the model is trained on it."""

    id: str
    source: str
    query: str
    """What was asked as a whole."""
    requirement: str
    """What of it is judged here; the query itself, where it is judged as a whole."""
    passages: tuple[str, ...]
    gold: tuple[bool, ...]
    kind: str
    """`task`, `subquery`, `part` (a requirement that was found in the query), or an alteration."""

    @property
    def group(self) -> str:
        """The source that is left out with this unit."""
        return SIBLINGS.get(self.source, self.source)

    @property
    def domain(self) -> str:
        """The domain within a source that has several: `hotel` of `desk-hotel-q01`."""
        return self.id.split("-")[1] if self.source in ("desk", "office") else ""


def rows(source: str) -> list[dict]:
    """Read the questions of a source."""
    path = DATA / (SOURCES | VALIDATION)[source]
    return [json.loads(line) for line in path.read_text().splitlines()]


def chance(*parts: str) -> float:
    """Return a number in 0..1 that only depends on the texts."""
    digest = hashlib.sha256("\n".join(parts).encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48


def units(source: str) -> list[Unit]:
    """Return all units of a source, without alterations."""
    return [unit for row in rows(source) for unit in _units(source, row)]


def _units(source: str, row: dict) -> Iterator[Unit]:
    task, subqueries = row["task"], row.get("subqueries") or []

    def unit(query: str, requirement: str, gold: Sequence[str], kind: str) -> Unit:
        texts: dict[str, bool] = {}
        for item in row["context"]:
            texts[item["text"]] = texts.get(item["text"], False) or item["id"] in gold
        return Unit(
            row["id"], source, query, requirement, tuple(texts), tuple(texts.values()), kind
        )

    yield unit(task, task, row["ground_truth"]["gold_doc_ids"], "task")
    texts = [each.get("subquery_resolved") or each["subquery"] for each in subqueries]
    for text, each in zip(texts, subqueries, strict=True):
        if not re.search(r"#\d", text):
            yield unit(text, text, each["gold_doc_ids"], "subquery")
    parts = enumerate_requirements(task)
    if len(parts) > 1:
        for part in parts:
            yield unit(task, part, row["ground_truth"]["gold_doc_ids"], ASKED)
    if len(parts) == len(subqueries) > 1 and source not in ("2wiki", "2wiki-bm25"):
        for part, each in zip(parts, subqueries, strict=True):
            yield unit(task, part, each["gold_doc_ids"], "part")


def altered(unit: Unit) -> list[Unit]:
    """
    Return a unit as contexts in the field are, beside what it is; some stay as they are.

    Without evidence, with fewer passages, in small contexts of single sentences, without headings,
    or with an older version of the evidence beside it.
    """
    if unit.kind == ASKED:
        return []
    draw = random.Random(chance("alter", unit.id, unit.requirement, unit.kind))
    kind, found = draw.random(), None
    if kind < 0.3:
        found = _without_gold(unit, draw)
    elif kind < 0.5:
        found = _few(unit, draw)
    elif kind < 0.75:
        found = _sentences(unit, draw)
    elif kind < 0.9:
        found = _bare(unit)
    more = [found] if found else []
    if draw.random() < (0.3 if sum(unit.gold) == 1 else 0.0):
        older = _older(unit, draw)
        more.append(_few(older, draw, keep=True) if draw.random() < 0.4 else older)
    if sum(unit.gold) > 1 and draw.random() < 0.4 and (small := _sentences(unit, draw, keep=True)):
        more.append(small)
    return more


def _keep(unit: Unit, places: Sequence[int], kind: str) -> Unit:
    return replace(
        unit,
        passages=tuple(unit.passages[place] for place in places),
        gold=tuple(unit.gold[place] for place in places),
        kind=f"{unit.kind}-{kind}",
    )


def _without_gold(unit: Unit, draw: random.Random) -> Unit | None:
    """Leave all evidence out, or, where there are several pieces, sometimes one of them."""
    gold = [place for place, is_gold in enumerate(unit.gold) if is_gold]
    if not gold:
        return None
    gone = {draw.choice(gold)} if len(gold) > 1 and draw.random() < 0.5 else set(gold)
    kept = [place for place in range(len(unit.gold)) if place not in gone]
    return _keep(unit, kept, "removed") if kept else None


def _few(unit: Unit, draw: random.Random, keep: bool = False) -> Unit:
    """Leave a few passages; with `keep`, all evidence among them."""
    places = list(range(len(unit.passages)))
    draw.shuffle(places)
    if keep:
        places.sort(key=lambda place: not unit.gold[place])
        return _keep(unit, sorted(places[: sum(unit.gold) + draw.randint(0, 3)]), "few")
    return _keep(unit, sorted(places[: draw.randint(1, 5)]), "few")


_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")


def _sentences(unit: Unit, draw: random.Random, keep: bool = False) -> Unit | None:
    """
    Cut each of a few passages to one of its sentences; evidence to the one that says most.

    Evidence that shares no word with the question is what a second hop finds: its first sentence,
    which names what it is about.
    """
    small = _few(unit, draw, keep)
    words = set(re.findall(r"\w+", unit.requirement.lower()))
    texts: dict[str, bool] = {}
    for text, is_gold in zip(small.passages, small.gold, strict=True):
        body = text.partition("\n")[2] or text
        said = [part for part in _SENTENCE.split(body) if len(part) > 8]
        if not said:
            continue
        shared = [len(words.intersection(re.findall(r"\w+", part.lower()))) for part in said]
        chosen = said[shared.index(max(shared))] if is_gold else draw.choice(said)
        if is_gold and max(shared) == 0 and sum(unit.gold) == 1:
            return None
        texts[chosen] = texts.get(chosen, False) or is_gold
    if not texts:
        return None
    return replace(
        small, passages=tuple(texts), gold=tuple(texts.values()), kind=f"{unit.kind}-sentences"
    )


_OLD = {
    "en": ("superseded", "valid until {d}", "no longer valid", "replaced on {d}", "old version"),
    "de": ("nicht mehr gültig", "ersetzt am {d}", "gültig bis {d}", "aufgehoben"),
    "fr": ("n'est plus valable", "remplacé le {d}", "abrogé", "valable jusqu'au {d}"),
    "es": ("ya no vigente", "sustituido el {d}", "derogado", "válido hasta el {d}"),
    "pt": ("já não é válido", "substituído em {d}", "revogado", "válido até {d}"),
    "zh": ("已废止", "旧版", "有效期至{y}年", "{y}年已被取代"),
    "ja": ("廃止", "旧版", "{y}年まで有効"),
    "ru": ("утратил силу", "действует до {d}", "заменено {d}"),
}
_NEW = {
    "en": ("valid from {d}", "in force since {d}", "current version", "as of {d}"),
    "de": ("gültig ab {d}", "Stand {d}", "aktuelle Fassung"),
    "fr": ("en vigueur depuis le {d}", "à partir du {d}"),
    "es": ("vigente desde el {d}", "versión actual"),
    "pt": ("em vigor desde {d}", "versão atual"),
    "zh": ("{y}年起施行", "现行版本"),
    "ja": ("{y}年より施行", "現行版"),
    "ru": ("действует с {d}",),
}


def _older(unit: Unit, draw: random.Random) -> Unit:
    """Put an older version of the evidence beside it: marked as such, with other figures."""
    place = unit.gold.index(True)
    text, language = unit.passages[place], _language(unit.passages[place])
    year = draw.randint(2012, 2024)
    older = re.sub(r"\d+", lambda found: _other_number(found[0], draw), text)
    older = _marked(older, draw.choice(_OLD[language]), year, draw)
    valid = text
    if draw.random() < 0.6:
        valid = _marked(text, draw.choice(_NEW[language]), year + draw.randint(0, 2), draw)
    passages = [*unit.passages, older]
    passages[place] = valid
    return replace(
        unit, passages=tuple(passages), gold=(*unit.gold, False), kind=f"{unit.kind}-older"
    )


def _language(text: str) -> str:
    if re.search("[\u3040-\u30ff]", text):
        return "ja"
    if re.search("[\u4e00-\u9fff]", text):
        return "zh"
    if re.search("[\u0400-\u04ff]", text):
        return "ru"
    words = set(re.findall(r"\w+", text.lower()))
    marks = {
        "en": {"the", "and", "is", "for"},
        "de": {"der", "und", "ist", "für"},
        "fr": {"le", "et", "est", "pour", "les"},
        "es": {"el", "y", "es", "los"},
        "pt": {"o", "e", "os", "não"},
    }
    return max(marks, key=lambda language: len(marks[language] & words))


def _marked(text: str, mark: str, year: int, draw: random.Random) -> str:
    """Put a mark where such marks stand: in the heading, before the text or behind it."""
    said = mark.format(y=year, d=f"{draw.randint(1, 28)}.{draw.randint(1, 12)}.{year}")
    heading, line, body = text.partition("\n")
    place = draw.random()
    if line and place < 0.5:
        return f"{heading} ({said})\n{body}"
    said = said[0].upper() + said[1:]
    return f"{text} {said}." if place < 0.75 or line else f"{said}: {text}"


def _other_number(number: str, draw: random.Random) -> str:
    if len(number) > 6 or draw.random() < 0.5:
        return number
    return str(int(number) + draw.randint(1, max(2, int(number) // 4)))


def _bare(unit: Unit) -> Unit:
    """Strip the headings."""
    texts: dict[str, bool] = {}
    for text, is_gold in zip(unit.passages, unit.gold, strict=True):
        bare = text.partition("\n")[2].strip() or text
        texts[bare] = texts.get(bare, False) or is_gold
    return replace(
        unit, passages=tuple(texts), gold=tuple(texts.values()), kind=f"{unit.kind}-bare"
    )
