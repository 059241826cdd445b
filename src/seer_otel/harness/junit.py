"""A run as a JUnit file, which CI systems show: a case each gate, and each retrieval."""

import re
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

from seer_otel.harness.evaluate import Outcome
from seer_otel.harness.gates import GateResult
from seer_otel.harness.report import Report

_FORBIDDEN: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML cannot hold."""


def write(path: Path, report: Report, gates: list[GateResult]) -> None:
    """
    Write a run with its gates.

    A gate that did not pass is a failure; a retrieval whose judgement failed is an error, and one
    that was not judged is skipped.

    Raises:
        OSError: The file cannot be written.
    """
    suites = ElementTree.Element("testsuites", name="seer-otel evaluate")
    suites.append(_of_gates(gates))
    suites.append(_of_retrievals(report))
    ElementTree.indent(suites)
    ElementTree.ElementTree(suites).write(path, encoding="utf-8", xml_declaration=True)


def _of_gates(gates: list[GateResult]) -> ElementTree.Element:
    suite = ElementTree.Element("testsuite", name="gates")
    for each in gates:
        name = f"{each.gate.name} >= {each.gate.threshold:g}"
        case = ElementTree.SubElement(suite, "testcase", classname="seer_otel.gates", name=name)
        if not each.passed:
            ElementTree.SubElement(case, "failure", message=_clean(str(each)))
    return _counted(suite)


def _of_retrievals(report: Report) -> ElementTree.Element:
    suite = ElementTree.Element("testsuite", name="retrievals")
    for outcome in report.counted():
        case = _case(suite, outcome.candidate.retrieval.record_id or _span(outcome))
        task = outcome.task
        if outcome.candidate.skip_reason is not None or outcome.verdict is None:
            reason = outcome.candidate.skip_reason or "skipped"
            ElementTree.SubElement(case, "skipped", message=_clean(reason))
        elif task is not None and task.status == "failed":
            why = f"{task.reason} ({task.error_type})"
            ElementTree.SubElement(case, "error", message=_clean(why))
    for talk in report.conversations:
        case = _case(suite, talk.conversation.record_id or "conversation")
        if talk.evaluation is None:
            ElementTree.SubElement(case, "skipped", message="budget")
        elif talk.status == "failed":
            why = f"{talk.evaluation.reason} ({talk.evaluation.error_type})"
            ElementTree.SubElement(case, "error", message=_clean(why))
    for bad in report.bad_records:
        case = _case(suite, f"{bad.file}:{bad.line}")
        ElementTree.SubElement(case, "error", message=_clean(bad.message))
    return _counted(suite)


def _case(suite: ElementTree.Element, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(
        suite, "testcase", classname="seer_otel.retrievals", name=_clean(name)
    )


def _span(outcome: Outcome) -> str:
    retrieval = outcome.candidate.retrieval
    return f"{retrieval.trace_id}-{retrieval.span_id}"


def _counted(suite: ElementTree.Element) -> ElementTree.Element:
    suite.set("tests", str(len(suite)))
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(len(suite.findall(f"testcase/{tag}"))))
    return suite


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", text)
