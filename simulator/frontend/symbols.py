"""The symbol table of one kernel: what each of clang's declarations is in the tree."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from clang.cindex import CursorKind, StorageClass, TypeKind

from simulator.frontend.clang import (
    CASTS,
    child_expressions,
    descendants,
    is_reference_cast,
    span_of,
    unary_operator,
)
from simulator.frontend.globals import lower_global
from simulator.frontend.mistakes import ConsequenceError
from simulator.frontend.records import Place, Record
from simulator.frontend.types import lower_type, parameter_type, zero
from simulator.language import ctype, tree
from simulator.language.ctype import ArrayOf, CType, Pointer, Scalar, Struct, Vector
from simulator.language.errors import SourceError, Span
from simulator.language.visit import in_register

ADDRESS_OF = re.compile(r"(?<!&)&(?!&)")  # every address-of operator matches, other text may


@dataclass(frozen=True, slots=True)
class Closure:
    """A lambda: the variables that it has copied, each declaration with its copy."""

    captured: tuple[tuple[Any, Symbol], ...]


# What a declaration's name means.
Symbol = tree.Variable | tree.Expression | Record | Closure


class SymbolTable:
    """The variables of a kernel and of the functions it calls.

    A declaration's name means a Variable, or an lvalue: for a reference, what it refers to; for a
    scalar in memory, the only cell of an array; or the members of a struct, or a lambda.
    Declarations are found by their clang hash.
    """

    def __init__(self, text: str) -> None:
        self._symbols: dict[int, Symbol] = {}
        self.this: Place | None = None  # the object of the method that is being lowered
        self._shared: dict[int, tree.Variable] = {}
        self._globals: list[tree.GlobalVariable] = []
        self._takes_addresses = ADDRESS_OF.search(text) is not None
        self._addressed: set[int] = set()  # declarations whose address is taken
        self._failed: set[int] = set()  # declarations with an error

    @property
    def shared(self) -> tuple[tree.Variable, ...]:
        """The shared arrays, in the order of their first declaration."""
        return tuple(self._shared.values())

    @property
    def globals(self) -> tuple[tree.GlobalVariable, ...]:
        """The __device__ and __constant__ variables, in the order of their first use."""
        return tuple(self._globals)

    def find(self, declaration: Any) -> Symbol | None:
        """What a declaration's name means; None if it is not known.

        Raises ConsequenceError for one with an error.
        """
        if not declaration.spelling:  # of a union without a name, whose type is bound
            declaration = declaration.type.get_declaration()
        symbol = self._symbols.get(declaration.hash)
        if symbol is None and declaration.hash in self._failed:
            raise ConsequenceError(f"The declaration of {declaration.spelling} has an error.")
        return symbol

    def fail(self, declaration: Any) -> None:
        """Define that a declaration, and all within it, has an error until a name is bound."""
        for cursor in descendants(declaration):
            self._symbols.pop(cursor.hash, None)
            self._failed.add(cursor.hash)

    def bind(self, declaration: Any, symbol: Symbol) -> None:
        """Define what a declaration's name means."""
        self._symbols[declaration.hash] = symbol

    def restore(self, declaration: Any, symbol: Symbol | None) -> None:
        """Define what a declaration's name means; None for what it meant before any bind."""
        if symbol is None:
            self._symbols.pop(declaration.hash, None)
        else:
            self._symbols[declaration.hash] = symbol

    def declare(self, cursor: Any, space: tree.MemorySpace) -> tree.Variable:
        """A new variable for a declaration."""
        span = span_of(cursor)
        is_parameter = cursor.kind == CursorKind.PARM_DECL
        variable = tree.Variable(
            name=cursor.spelling,
            ctype=(parameter_type if is_parameter else lower_type)(cursor.type, span),
            space=space,
            span=span,
            dynamic=cursor.storage_class == StorageClass.EXTERN,
        )
        self.bind(cursor, variable)
        return variable

    def declare_in_memory(
        self, cursor: Any, lowered: CType, space: tree.MemorySpace, value: tree.Expression | None
    ) -> tree.Declare:
        """Declare a variable that is no array but needs an address: an array of one cell."""
        span = span_of(cursor)
        variable = tree.Variable(cursor.spelling, ArrayOf(lowered, 1), space, span)
        name = tree.Name(variable.ctype, span, variable)
        volatile = cursor.type.is_volatile_qualified()
        self.bind(cursor, tree.Index(lowered, span, name, zero(ctype.INT, span), volatile))
        return tree.Declare(span, variable, cells=None if value is None else (value,))

    def declare_shared(self, cursor: Any, span: Span) -> tree.Declare:
        """Declare a shared variable: one for the block, however often its function is called.

        span is the statement's, or that of the first use of one declared outside the kernel.
        """
        known = self._shared.get(cursor.hash)
        if known is not None:
            return tree.Declare(span, known)
        self.fail(cursor)  # unless it is bound below
        lowered = lower_type(cursor.type, span)
        if isinstance(lowered, (Scalar, Vector, Struct, Pointer)):
            declaration = self.declare_in_memory(cursor, lowered, tree.MemorySpace.SHARED, None)
        elif isinstance(lowered, ArrayOf):
            if isinstance(lowered.element, ArrayOf) and not lowered.element.size:
                raise SourceError(f"The rows of {cursor.spelling} have no cells.", span)
            declaration = tree.Declare(span, self.declare(cursor, tree.MemorySpace.SHARED))
        else:
            raise SourceError(f"A shared variable of type {lowered} is not supported.", span)
        self._shared[cursor.hash] = declaration.variable
        return declaration

    def declare_global(self, cursor: Any, span: Span) -> None:
        """Declare a __device__ or __constant__ variable at its first use, which is at `span`."""
        self.fail(cursor)  # unless it is bound below: its error is named at its first use
        found = lower_global(cursor, span)
        self._globals.append(found)
        variable, array = found.variable, found.variable.ctype
        assert isinstance(array, ArrayOf)
        if found.is_array:
            self.bind(cursor, variable)
            return
        name, first = tree.Name(array, span, variable), zero(ctype.INT, span)
        volatile = cursor.type.is_volatile_qualified()
        self.bind(cursor, tree.Index(array.element, span, name, first, volatile))

    def declare_reference(
        self, cursor: Any, lvalue: tree.Expression, span: Span
    ) -> tree.Declare | None:
        """Bind a reference to an lvalue, evaluated once.

        A register's reference is another name for it, and needs no statement: None. Any other is
        a pointer that is dereferenced at each use.
        """
        if in_register(lvalue) or isinstance(lvalue, tree.Name):
            self.bind(cursor, lvalue)
            return None
        pointer = Pointer(lvalue.ctype)
        variable = tree.Variable(cursor.spelling, pointer, tree.MemorySpace.REGISTER, span)
        address = tree.Load(pointer, span, tree.Name(pointer, span, variable))
        self.bind(cursor, tree.Dereference(lvalue.ctype, span, address))
        return tree.Declare(span, variable, tree.AddressOf(pointer, span, lvalue))

    def find_addressed(self, body: Any) -> None:
        """Note the variables whose address a function's body takes: they cannot be registers."""
        if not self._takes_addresses:
            return
        for cursor in descendants(body):
            if cursor.kind == CursorKind.CALL_EXPR:
                self._find_addressed_object(cursor)
            is_address = cursor.kind == CursorKind.UNARY_OPERATOR and unary_operator(cursor) == "&"
            if is_address or cursor.kind in CASTS:
                operands = child_expressions(cursor)
                if cursor.kind in CASTS and not is_reference_cast(cursor, operands[-1]):
                    continue
                for child in operands:
                    root = _root(child)
                    if root.kind == CursorKind.DECL_REF_EXPR and root.referenced is not None:
                        self._addressed.add(root.referenced.hash)

    def _find_addressed_object(self, call: Any) -> None:
        """Note the object of a call whose method takes the address of the object's members."""
        called = call.referenced
        if called is None or called.kind != CursorKind.CXX_METHOD or called.is_static_method():
            return
        definition = called.get_definition()
        if definition is None or not _takes_own_address(definition):
            return
        inside = child_expressions(call)
        root = _root(inside[0])
        while root.kind in (CursorKind.UNEXPOSED_EXPR, CursorKind.MEMBER_REF_EXPR):
            children = child_expressions(root)
            if len(children) != 1:
                break
            root = _root(children[0])
        if root.kind == CursorKind.DECL_REF_EXPR:
            self._addressed.add(root.referenced.hash)

    def note_addressed(self, cursor: Any) -> None:
        """Note that the address of a part of a variable is taken, which has a name of its own."""
        self._addressed.add(cursor.hash)

    def is_addressed(self, cursor: Any) -> bool:
        """Whether a variable's address is taken in a body that find_addressed has seen."""
        return cursor.hash in self._addressed


def _root(cursor: Any) -> Any:
    """The struct of which an expression such as p.x or p.position.x is a member, or itself."""
    while cursor.kind in (CursorKind.MEMBER_REF_EXPR, CursorKind.PAREN_EXPR):
        children = child_expressions(cursor)
        if len(children) != 1 or children[0].type.get_canonical().kind == TypeKind.POINTER:
            break
        (cursor,) = children
    return cursor


def _takes_own_address(method: Any) -> bool:
    """Whether a method takes the address of a member, or returns a reference to one of several."""
    for cursor in descendants(method):
        children = list(cursor.get_children())
        if cursor.kind == CursorKind.UNARY_OPERATOR and unary_operator(cursor) == "&":
            root = _root(children[0])
            if root.kind in (CursorKind.MEMBER_REF_EXPR, CursorKind.CXX_THIS_EXPR):
                return True
        if cursor.kind == CursorKind.RETURN_STMT and children:
            refers = method.result_type.get_canonical().kind == TypeKind.LVALUEREFERENCE
            if refers and children[0].kind == CursorKind.CONDITIONAL_OPERATOR:
                return True
    return False
