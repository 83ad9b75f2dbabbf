"""Lowers clang's statement cursors to the tree's statements."""

from __future__ import annotations

from typing import Any

from clang.cindex import CursorKind, TypeKind

from simulator.frontend.assembly import lower_assembly
from simulator.frontend.byte_functions import BYTE_FUNCTIONS, lower_byte_function
from simulator.frontend.calls import Calls, Result
from simulator.frontend.clang import constant, descendants, is_unread, span_of
from simulator.frontend.declarations import Declarations
from simulator.frontend.expressions import Expressions, as_sum
from simulator.frontend.hoisting import hoist, hoist_calls
from simulator.frontend.lexer import blank_comments
from simulator.frontend.mistakes import ConsequenceError, LimitError, Mistakes
from simulator.frontend.records import Place, Record
from simulator.frontend.references import Reference
from simulator.frontend.structs import Structs
from simulator.frontend.symbols import SymbolTable
from simulator.frontend.types import convert, is_struct, zero
from simulator.frontend.unsupported import unsupported_kind
from simulator.language import ctype, tree
from simulator.language.ctype import ArrayOf
from simulator.language.errors import SourceError, Span
from simulator.language.waiting import waits

CASE_CHILDREN = 2  # of a case label: its value and the statement after it
FOR_CLAUSES = ["start", "condition", "advance"]  # as class Loop names them
WITH_HEADS = frozenset(
    {
        CursorKind.IF_STMT, CursorKind.FOR_STMT, CursorKind.WHILE_STMT, CursorKind.DO_STMT,
        CursorKind.SWITCH_STMT, CursorKind.CXX_FOR_RANGE_STMT,
    }
)  # fmt: skip
MAX_DEPTH = 80  # nested statements; a kernel beyond it would exhaust Python's stack
MAX_STATEMENTS = 3_000  # of a kernel, those of its functions counted at every call


class Statements:
    """Lowers the statements of one kernel, and of the functions that it calls."""

    def __init__(self, text: str, filename: str, symbols: SymbolTable, mistakes: Mistakes) -> None:
        self._text = text
        self._symbols = symbols
        self._mistakes = mistakes
        self._calls = Calls(filename, symbols, self)
        self.expressions = Expressions(symbols, self._calls.expression, self._member)
        self.structs = Structs(symbols, self.expressions, self._calls)
        self._declarations = Declarations(symbols, self.structs)
        self._result: Result = None  # what the current function's return assigns
        self._depth = 0
        self._count = 0

    def _member(self, cursor: Any, span: Span) -> Place:
        return self.structs.member(cursor, span)

    def body(self, cursor: Any, result: Result) -> tree.Sequence:
        """A function's body; its return statements assign `result`.

        The symbol table has found what variables the body takes the address of.
        """
        outer, self._result = self._result, result
        try:
            return self._sequence(cursor)
        finally:
            self._result = outer

    def _statement(self, cursor: Any) -> tree.Statement:
        """A statement; an empty one for one with an error."""
        self._depth += 1
        self._count += 1
        if self._count > MAX_STATEMENTS:
            raise LimitError(
                f"The kernel has more than {MAX_STATEMENTS:,} statements, counting those of its "
                "functions at every call.",
                span_of(cursor),
            )
        span = span_of(cursor)
        try:
            with self._mistakes.noted():
                if self._depth > MAX_DEPTH:
                    raise SourceError(
                        f"Statements are nested more than {MAX_DEPTH} levels deep here.", span
                    )
                if cursor.kind.is_expression() or cursor.kind == CursorKind.RETURN_STMT:
                    self._mistakes.check_read(cursor)
                return self._lower(cursor, span)
            return tree.Sequence(span, ())
        finally:
            self._depth -= 1

    def _lower(self, cursor: Any, span: Span) -> tree.Statement:
        """A statement, by its kind."""
        children = list(cursor.get_children())
        if cursor.kind in WITH_HEADS and self._mistakes.has_clangs:
            self._check_head(cursor, children, span)
        match cursor.kind:
            case CursorKind.COMPOUND_STMT:
                return self._sequence(cursor)
            case CursorKind.DECL_STMT:
                declarations = [self._declaration(child) for child in children]
                if len(declarations) == 1:
                    return declarations[0]
                return tree.Sequence(span, tuple(declarations), opens_scope=False)
            case CursorKind.IF_STMT:
                return self._if(cursor, children, span)
            case CursorKind.FOR_STMT:
                return self._for(cursor, children, span)
            case CursorKind.WHILE_STMT:
                variable = _condition_variable(children)
                condition, body = children
                return self._loop(span, None, condition, None, body, variable=variable)
            case CursorKind.DO_STMT:
                body, condition = children
                return self._loop(span, None, condition, None, body, test_first=False)
            case CursorKind.BREAK_STMT:
                return tree.Break(span)
            case CursorKind.CONTINUE_STMT:
                return tree.Continue(span)
            case CursorKind.SWITCH_STMT:
                return self._switch(cursor, children, span)
            case CursorKind.CASE_STMT | CursorKind.DEFAULT_STMT if self._mistakes.has_clangs:
                return self._statement(children[-1])  # of a switch whose head has an error
            case CursorKind.RETURN_STMT:
                return self._return(children, span)
            case CursorKind.NULL_STMT:
                return tree.Sequence(span, ())
            case CursorKind.UNEXPOSED_STMT if len(children) == 1:
                return self._statement(children[0])  # #pragma unroll around a loop
            case CursorKind.CALL_EXPR | CursorKind.UNEXPOSED_EXPR if (
                barrier := self._calls.barrier(cursor, span)
            ) is not None:
                return barrier
            case CursorKind.CALL_EXPR if cursor.spelling in BYTE_FUNCTIONS:
                return lower_byte_function(cursor, span, self.expressions)
            case CursorKind.CALL_EXPR if self._calls.definition(cursor) is not None:
                return self._call(cursor, span)
            case CursorKind.CXX_FOR_RANGE_STMT:
                return self._range_for(children, span)
            case kind if kind.is_expression() and is_struct(cursor.type):
                return hoist(self.structs.statement(cursor, span))
            case kind if kind.is_expression():
                return hoist(tree.Evaluate(span, as_sum(self.expressions.value(cursor))))
            case CursorKind.ASM_STMT:
                return lower_assembly(cursor, span, self.expressions)
            case kind:
                raise SourceError(unsupported_kind(kind.name), span)

    def _check_head(self, cursor: Any, children: list[Any], span: Span) -> None:
        """Raise ConsequenceError for a statement of which clang may have read parts alone.

        The blocks in it are lowered then, for what is wrong within them.
        """
        kinds = {CursorKind.COMPOUND_STMT, *WITH_HEADS}
        blocks = [child for child in children if child.kind in kinds]
        others = [child for child in children if child.kind not in kinds]
        if (
            self._mistakes.has_torn_head(span, [span_of(block) for block in blocks])
            or _lacks_head(self._text, cursor)
            or any(is_unread(child) for child in others)
        ):
            for child in others:
                self._symbols.fail(child)  # what it declares
            for block in blocks:
                self._statement(block)
            raise ConsequenceError("The head of this statement has an error.", span)

    def _declaration(self, cursor: Any) -> tree.Statement:
        """A declaration; its name is known after one with an error, too, if its type is."""
        with self._mistakes.noted():
            self._mistakes.check_read(cursor)
            return hoist(self._declarations.lower(cursor))
        self._declarations.recover(cursor)
        return tree.Sequence(span_of(cursor), ())

    def _call(self, cursor: Any, span: Span) -> tree.Statement:
        """A call of a function of the text, as a statement."""
        definition = self._calls.definition(cursor)
        function, _ = self._calls.invoke(cursor, definition, span)
        return function

    def _sequence(self, cursor: Any) -> tree.Sequence:
        statements = tuple(self._statement(child) for child in cursor.get_children())
        return tree.Sequence(span_of(cursor), statements)

    def _condition(
        self, cursor: Any, variable: Any
    ) -> tuple[list[tree.Statement], tree.Expression]:
        """A condition, after the variable that it declares and the calls in which threads wait."""
        declared = [] if variable is None else [self._declaration(variable)]
        with self._mistakes.noted():
            value = self.expressions.value(cursor)
            before, condition = hoist_calls(convert(value, ctype.BOOL, value.span))
            return declared + before, condition
        return declared, zero(ctype.BOOL, span_of(cursor))

    def _if(self, cursor: Any, children: list[Any], span: Span) -> tree.Statement:
        """if (start; condition) yes else no."""
        variable = _condition_variable(children)
        has_start = not _is_test(children[0]) or (
            len(children) > 2 and _is_test(children[1]) and bool(_semicolons(self._text, cursor))
        )
        start = [self._statement(children.pop(0))] if has_start else []
        test, *branches = children
        before, condition = self._condition(test, variable)
        yes = self._statement(branches[0])
        no = self._statement(branches[1]) if len(branches) > 1 else None
        return _in_scope([*start, *before], tree.If(span, condition, yes, no))

    def _for(self, cursor: Any, children: list[Any], span: Span) -> tree.Statement:
        variable = _condition_variable(children)
        *head, body = children
        names = _for_clauses(self._text, cursor, head)
        clauses = dict(zip(names, head, strict=True))
        start = self._statement(clauses["start"]) if "start" in clauses else None
        if start is not None and waits(start):
            raise SourceError("Call a function with a barrier before the loop.", start.span)
        return self._loop(
            span, start, clauses.get("condition"), clauses.get("advance"), body, variable=variable
        )

    def _loop(
        self,
        span: Span,
        start: tree.Statement | None,
        condition: Any,
        advance: Any,
        body: Any,
        test_first: bool = True,
        variable: Any = None,
    ) -> tree.Loop:
        """A loop, of the cursors of its parts, which it may be without.

        variable is the declaration in its condition.
        """
        before, test = ([], None) if condition is None else self._condition(condition, variable)
        advanced = None
        with self._mistakes.noted():
            advanced = None if advance is None else self.expressions.value(advance)
        return tree.Loop(
            span,
            start,
            test,
            advanced,
            self._statement(body),
            test_first,
            tree.Sequence(span, tuple(before), opens_scope=False) if before else None,
        )

    def _range_for(self, children: list[Any], span: Span) -> tree.Statement:
        """for (T v : array): a loop over the array's indices that declares v in each iteration."""
        declaration, given, body = children[0], children[-2], children[-1]
        if is_struct(given.type):
            raise SourceError(
                "A range-based for loop takes an array here; for others, count with an index.", span
            )
        lowered = self.expressions.expression(given)
        if not isinstance(lowered.ctype, ArrayOf):
            raise SourceError(
                "A range-based for loop takes an array here; for others, count with an index.", span
            )
        number = tree.Variable(
            f"{declaration.spelling} index", ctype.INT, tree.MemorySpace.REGISTER, span
        )

        def index() -> tree.Expression:
            return tree.Load(ctype.INT, span, tree.Name(ctype.INT, span, number))

        length = tree.Literal(ctype.INT, span, ctype.INT.dtype.type(lowered.ctype.length))
        cell = tree.Index(lowered.ctype.element, span, lowered, index())
        return tree.Loop(
            span,
            tree.Declare(span, number, zero(ctype.INT, span)),
            tree.Binary(ctype.BOOL, span, "<", index(), length),
            tree.Increment(ctype.INT, span, tree.Name(ctype.INT, span, number), 1, postfix=False),
            tree.Sequence(
                span, (self._declarations.element(declaration, cell), self._statement(body))
            ),
        )

    def _switch(self, cursor: Any, children: list[Any], span: Span) -> tree.Statement:
        """A switch; clang nests a label in the label before it, and its statement in the last."""
        variable = _condition_variable(children)
        start = [self._declaration(one) for one in _switch_start(self._text, cursor)]
        start += [] if variable is None else [self._declaration(variable)]
        selector, block = children
        labels: list[tuple[int | None, int]] = []
        body: list[tree.Statement] = []
        if block.kind != CursorKind.COMPOUND_STMT:
            raise SourceError("Write the switch's body in braces.", span)
        for child in block.get_children():
            inner = child
            while inner.kind in (CursorKind.CASE_STMT, CursorKind.DEFAULT_STMT):
                labels.append((_label(inner), len(body)))
                inner = list(inner.get_children())[-1]
            body.append(self._statement(inner))
        before, value = hoist_calls(self.expressions.value(selector))
        return _in_scope([*start, *before], tree.Switch(span, value, tuple(labels), tuple(body)))

    def _return(self, children: list[Any], span: Span) -> tree.Statement:
        """A return, after the assignment of its value to the function's result."""
        if not children:
            return tree.Return(span)
        if self._result is None:
            return tree.Sequence(
                span, (tree.Evaluate(span, self.expressions.value(children[0])), tree.Return(span))
            )
        result = self._result
        if isinstance(result, Record):
            return tree.Sequence(
                span, (*self.structs.initialize(result, children[0]), tree.Return(span))
            )
        if isinstance(result, Reference):
            is_record = is_struct(children[0].type)
            place: Place = (
                self.structs.record(children[0])
                if is_record
                else self.expressions.lvalue(children[0])
            )
            return tree.Sequence(span, (*result.give(place, span), tree.Return(span)))
        lvalue = tree.Name(result.ctype, span, result)
        value = convert(self.expressions.value(children[0]), result.ctype, span)
        assign = tree.Evaluate(
            span, tree.Assign(result.ctype, span, lvalue, "", value, result.ctype)
        )
        return tree.Sequence(span, (hoist(assign), tree.Return(span)))


def _label(cursor: Any) -> int | None:
    """The value of a case label; None for default."""
    if cursor.kind == CursorKind.DEFAULT_STMT:
        return None
    children = list(cursor.get_children())
    if len(children) != CASE_CHILDREN:
        raise SourceError("A range of cases is not supported; write each case.", span_of(cursor))
    value = constant(children[0])
    if value is not None and not isinstance(value, int):
        raise SourceError("A case needs a whole number.", span_of(cursor))
    return value


def _lacks_head(text: str, cursor: Any) -> bool:
    """Whether clang has dropped what is in the brackets of a statement, or its body."""
    children = list(cursor.get_children())
    if cursor.kind != CursorKind.FOR_STMT and len(children) < 2:
        return True
    if cursor.kind != CursorKind.IF_STMT:
        return not children
    begin, end = cursor.extent.start.offset, children[0].extent.start.offset
    code = blank_comments(text.encode()[begin:end].decode(errors="replace"))
    return code.count("(") <= code.count(")")


def _condition_variable(children: list[Any]) -> Any:
    """Remove the declaration in a condition from a statement's children; None if it has none."""
    found = next((child for child in children if child.kind == CursorKind.VAR_DECL), None)
    if found is not None:
        children.remove(found)
    return found


def _in_scope(before: list[tree.Statement], statement: tree.If | tree.Switch) -> tree.Statement:
    """A statement in the scope of what its head declares."""
    return tree.Sequence(statement.span, (*before, statement)) if before else statement


def _is_test(cursor: Any) -> bool:
    """Whether an expression may be a condition, which is a bool for clang."""
    is_bool = cursor.type.get_canonical().kind == TypeKind.BOOL
    return is_bool and bool(cursor.kind.is_expression())


def _switch_start(text: str, cursor: Any) -> list[Any]:
    """The declarations of switch (int a = 1, b = 2; a), which are no children of it for clang.

    They are found by their uses. Raises SourceError where these are not all that is there.
    """
    semicolons = _semicolons(text, cursor)
    if not semicolons:
        return []
    raw = text.encode()
    begin, end = raw.index(b"(", cursor.extent.start.offset) + 1, semicolons[0]
    written = blank_comments(raw[begin:end].decode(errors="replace"))
    used = [c.referenced for c in descendants(cursor) if c.kind == CursorKind.DECL_REF_EXPR]
    by_end = {
        one.extent.end.offset: one
        for one in used
        if one.kind == CursorKind.VAR_DECL and begin <= one.extent.start.offset < end
    }
    declared = len(_positions(f"({written})", ",")) + 1 if written.strip() else 0
    if len(by_end) != declared:
        raise SourceError(
            "Write what comes before the ; in a statement before this switch.", span_of(cursor)
        )
    return [by_end[place] for place in sorted(by_end)]


def _semicolons(text: str, cursor: Any) -> list[int]:
    """Where the semicolons in the parentheses of a statement's head are, in bytes."""
    begin = cursor.extent.start.offset  # in bytes, like all of clang's offsets
    raw = text.encode()[begin : cursor.extent.end.offset].decode(errors="replace")
    code = blank_comments(raw)
    return [begin + len(code[:position].encode()) for position in _positions(code, ";")]


def _positions(code: str, sign: str) -> list[int]:
    """Where a sign is between the first bracket of a text and the one that closes it.

    It does not count within other brackets.

    >>> _positions("for (int i = f(0, 1); i < n; ) { ; }", ";")
    [20, 27]
    """
    depth, found = 0, []
    for position, character in enumerate(code):
        depth += (character in "([{") - (character in ")]}")
        if character == sign and depth == 1:
            found.append(position)
        if depth == 0 and character == ")":
            break
    return found


def _for_clauses(text: str, cursor: Any, head: list[Any]) -> list[str]:
    """Which of FOR_CLAUSES each child of a for loop's head is.

    Clang's children do not show which clauses are missing, so the head's two semicolons are
    searched for in the text.
    """
    if len(head) == len(FOR_CLAUSES):
        return FOR_CLAUSES
    semicolons = _semicolons(text, cursor)
    if len(semicolons) != 2:
        raise SourceError("Write all three parts of this for loop's head.", span_of(cursor))
    return [
        FOR_CLAUSES[sum(child.extent.start.offset > semicolon for semicolon in semicolons)]
        for child in head
    ]
