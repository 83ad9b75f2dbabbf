"""A verdict as JUnit's XML, which graders and CI services read."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, ElementTree, SubElement, indent

from simulator.language.files import with_file_names
from simulator.language.printable import printable
from simulator.output_file import opened_output
from simulator.sentences.verdicts import size_text
from simulator.terminal.verdict_run import Judged
from simulator.verdict.verdict import CheckState

NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_junit(file: str, judged: Judged) -> None:
    """Write a verdict's XML. Raises LaunchError where that cannot be written."""
    suite = _suite(judged.kernel)
    _add_requirements(suite, judged)
    verdict, text = judged.verdict, judged.text
    for check in verdict.checks if verdict is not None else ():
        case = _case(suite, size_text(dict(check.sizes)), "sizes", check.seconds)
        if check.state in (CheckState.WRONG, CheckState.STOPPED):
            _fail(case, with_file_names(check.sentence, text))
        elif check.state is CheckState.SKIPPED:
            SubElement(case, "skipped", message=_safe(check.sentence))
    if verdict is not None:
        case = _case(suite, "no hazards", "hazards")
        if verdict.hazards:
            messages = "\n".join(found.hazard.message for found in verdict.hazards)
            _fail(case, with_file_names(messages, text))
        SubElement(suite, "system-out").text = _safe(with_file_names(verdict.next_step, text))
    _write(file, suite)


def write_failure(file: str, name: str, sentences: str) -> None:
    """Write the XML of a file that is not judged: why, as a failure of one case."""
    suite = _suite(name)
    _fail(_case(suite, "it compiles and its launch is known", "source"), sentences)
    _write(file, suite)


def _suite(name: str) -> Element:
    return Element("testsuite", name=_safe(name), tests="0", failures="0", skipped="0")


def _case(suite: Element, name: str, group: str, seconds: float = 0.0) -> Element:
    return SubElement(
        suite,
        "testcase",
        name=_safe(name),
        classname=f"{suite.get('name')}.{group}",
        time=f"{seconds:.3f}",
    )


def _add_requirements(suite: Element, judged: Judged) -> None:
    for result in judged.result.results if judged.result is not None else ():
        case = _case(suite, result.goal, "requirements")
        if not result.met:
            _fail(case, result.sentence)


def _fail(case: Element, sentences: str) -> None:
    safe = _safe(sentences)
    SubElement(case, "failure", message=safe.split("\n")[0]).text = safe


def _safe(text: str) -> str:
    """The text with letters that are not seen as escapes, and without what XML has no place for."""
    return NOT_XML.sub("?", printable(text))


def _write(file: str, suite: Element) -> None:
    for name, tag in (("tests", "testcase"), ("failures", "failure"), ("skipped", "skipped")):
        suite.set(name, str(len(list(suite.iter(tag)))))
    indent(suite)
    with opened_output(file) as out:
        ElementTree(suite).write(out, encoding="utf-8", xml_declaration=True)
