"""Judges answers to questions: what is right, and the reason, from the numbers of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from simulator import LaunchError
from simulator.size_expression import evaluate
from ui.lessons.lesson import Claim, Kind, Question, Reason

Numbers = Mapping[str, float]
Answer = int | tuple[int, ...]  # a number, an option or a line; a cell, or options in an order


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is said of an answer."""

    is_right: bool
    because: str  # Markdown


class QuestionError(ValueError):
    """What is wrong with a question, whatever is answered."""


def right_answer(question: Question, numbers: Numbers) -> Answer:
    """The answer that is right.

    Of an order the numbers of its options, of which the right order has rising values.
    Raises QuestionError.
    """
    match question.kind:
        case Kind.NUMBER | Kind.LINE:
            return value(question, question.answer, numbers)
        case Kind.CELL:
            row, _, column = question.answer.partition(",")
            return value(question, row, numbers), value(question, column, numbers)
        case Kind.CHOICE:
            values = [value(question, option.value, numbers) for option in question.options]
            if values.count(max(values)) > 1:
                raise QuestionError(f"{question.name}: two options are right.")
            return values.index(max(values))
        case Kind.ORDER:
            values = [value(question, option.value, numbers) for option in question.options]
            if len(set(values)) < len(values):
                raise QuestionError(f"{question.name}: two options have the same place.")
            return tuple(sorted(range(len(values)), key=values.__getitem__))


def judge(question: Question, numbers: Numbers, given: Answer) -> Judgement:
    """Whether an answer is right, and the reason. Raises QuestionError."""
    is_right = given == right_answer(question, numbers)
    because = fill(question, question.because, numbers)
    if is_right:
        return Judgement(True, because)
    for reason in question.wrong:
        if wrong_answer(question, reason, numbers) == given:
            return Judgement(False, f"{fill(question, reason.because, numbers)} {because}")
    return Judgement(False, because)


def hint(question: Question, numbers: Numbers, given: Answer) -> str:
    """What helps after a wrong answer, Markdown: what led to it, else the question's hint."""
    for reason in question.wrong:
        if wrong_answer(question, reason, numbers) == given:
            return fill(question, reason.because, numbers)
    return fill(question, question.hint, numbers)


def words(question: Question, numbers: Numbers, answer: Answer) -> str:
    """An answer as it is read within a sentence."""
    match answer:
        case int() if question.kind is Kind.CHOICE:
            return f"“{fill(question, question.options[answer].text, numbers).removesuffix('.')}”"
        case int():
            return f"line {answer}" if question.kind is Kind.LINE else f"{answer:,}"
        case _ if question.kind is Kind.CELL:
            return f"row {answer[0]}, column {answer[1]}"
        case _:
            texts = [fill(question, question.options[i].text, numbers) for i in answer]
            return "; ".join(f"{i}. {text.removesuffix('.')}" for i, text in enumerate(texts, 1))


def value(question: Question | Claim, expression: str, numbers: Numbers) -> int:
    """The value of an expression over a question's or claim's numbers. Raises QuestionError."""
    whole = {name: number for name, number in numbers.items() if isinstance(number, int)}
    try:
        return evaluate(expression, {**whole, **question.fresh})
    except LaunchError as error:
        raise QuestionError(f"{question.name}: {error}") from None


def fill(question: Question | Claim, template: str, numbers: Numbers) -> str:
    """A template with the numbers of a question or claim: {loads}, {naive / tiled}.

    Raises QuestionError. Braces that are meant as such, as in formulas, are written twice.
    """
    known = {**numbers, **question.fresh}
    pieces, rest = list[str](), template
    while True:
        before, brace, rest = rest.partition("{")
        pieces.append(before.replace("}}", "}"))
        if not brace:
            return "".join(pieces)
        if rest.startswith("{"):
            pieces.append("{")
            rest = rest[1:]
            continue
        name, brace, rest = rest.partition("}")
        if not brace:
            raise QuestionError(f"{question.name}: a brace is not closed in {template!r}.")
        number = known[name] if name in known else value(question, name, numbers)
        pieces.append(f"{number:,}")


def claim_title(claim: Claim) -> str:
    """A claim with the notes that make it, Markdown."""
    return f"**Notes {', '.join(map(str, claim.notes))}**: {claim.says}"


def cells(question: Question, numbers: Numbers) -> tuple[int, int]:
    """Rows and columns of the cells to click."""
    return value(question, question.rows, numbers), value(question, question.columns, numbers)


def wrong_answer(question: Question, reason: Reason, numbers: Numbers) -> Answer:
    """The wrong answer that a reason is for. Raises QuestionError."""
    if question.kind in (Kind.CELL, Kind.ORDER):
        return tuple(value(question, part, numbers) for part in reason.answer.split(","))
    return value(question, reason.answer, numbers)


def check_texts(question: Question, numbers: Numbers) -> Sequence[str]:
    """Every text of a question, filled in. Raises QuestionError."""
    templates = [question.ask, question.because, question.hint]
    templates += [reason.because for reason in question.wrong]
    templates += [option.text for option in question.options]
    return [fill(question, template, numbers) for template in templates]
