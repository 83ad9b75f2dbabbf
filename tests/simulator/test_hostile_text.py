"""Text that a backtracking pattern would read for minutes or for ever; each is read in moments.

Each case runs in a process of its own, which is ended after TIMEOUT seconds: far more than a
busy machine needs, and far less than patterns take whose time grows with the square of a text.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from simulator.frontend.directives import check_directives
from simulator.frontend.lexer import blank_comments, tokens
from simulator.frontend.source import set_defines
from simulator.frontend.template import instantiate
from simulator.language.errors import SourceError

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT = 30
LENGTH = 65_000  # characters, just less than a kernel's text may have
RUN = """
import sys
from simulator.language.errors import SourceError
text = sys.stdin.read()
try:
    {0}
except SourceError as error:
    print(error)
"""
DIRECTIVES = "from simulator.frontend.directives import check_directives; check_directives(text)"
BLANK = "from simulator.frontend.lexer import blank_comments; blank_comments(text)"
TOKENS = "from simulator.frontend.lexer import tokens; tokens(text)"
DEFINES = "from simulator.frontend.source import set_defines; set_defines(text, {'T': '2'})"
TEMPLATE = "from simulator.frontend.template import instantiate; instantiate(text, 'k', {})"
ELEMENT = "from gpu.cuda.compile import element_type; element_type(text, 'k')"
EDITS = "from ui.view.what_if import apply_edits; apply_edits(text, ['double'])"
SANITIZER = "from tools.referee import findings; findings(text)"
NAME = "from simulator.frontend.unsupported import unsupported_message; unsupported_message(text)"


def long(piece: str, before: str = "", after: str = "", length: int = LENGTH) -> str:
    return before + piece * ((length - len(before) - len(after)) // len(piece)) + after


# What reads the text, the text, and what is found wrong with it.
TEXTS = {
    "comments behind #": (DIRECTIVES, long("/**/", "#"), ""),
    "comments within comments behind #": (DIRECTIVES, long("/*#/**/ "), ""),
    "comments without an end": (DIRECTIVES, long("#/*"), ""),
    "a name behind comments": (DIRECTIVES, long("/**/", "#", "include"), "#include"),
    "a quote, then escaped ones": (DIRECTIVES, long('\\"', '"'), "2,000 tokens"),
    "escaped quotes": (BLANK, long('\\"', '"'), ""),
    "escaped apostrophes": (BLANK, long("\\'", "'"), ""),
    "escaped quotes of both kinds": (BLANK, long("\\'\\\"", "\"'"), ""),
    "tokens of escaped quotes": (TOKENS, long('\\"', '"'), ""),
    "spaces within a value": (DEFINES, long(" ", "#define T 1", "x"), ""),
    "templates": (TEMPLATE, long("template<a>__global__ k "), ""),
    "kernels behind a template": (TEMPLATE, long("__global__ k ", "template<a>"), ""),
    "kernels without a name": (ELEMENT, long("__global__ "), "no kernel named k"),
    "calls without an end": (ELEMENT, long("k( ", "__global__ "), "Kernel k must take"),
    "a name of half precision": (NAME, long("a", "__h", "-"), ""),
    "places in a tool's output": (SANITIZER, long(" in ", "COMPUTE-SANITIZER SUMMARY "), ""),
    "words to edit": (EDITS, long("float ", length=10 * LENGTH), ""),
    "a macro's argument put in often": (
        DIRECTIVES,
        f"#define F(x) {'x ' * 15_000}\nF({'a ' * 15_000})",
        "macros used here expand to more than 100,000 tokens",
    ),
}


@pytest.mark.sample(20)
@pytest.mark.parametrize("case", TEXTS)
def test_text_is_read_in_time(case: str) -> None:
    reads, text, part = TEXTS[case]
    done = subprocess.run(
        [sys.executable, "-c", RUN.format(reads)],
        input=text, capture_output=True, text=True, check=False, cwd=ROOT, timeout=TIMEOUT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert part in done.stdout
    assert bool(part) == bool(done.stdout)


# That reading fast is still reading right: what each text becomes.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"a // b" // c', '"a // b"     '),
        ('don\'t // "it"', "don't        "),
        (r'"\"//" //', r'"\"//"   '),
        ('"\\"//\n"//"', '"\\"  \n"//"'),  # the first has no end, the second line's has
        ('/* " */ \'"\' // "', "        '\"'     "),
        ("a /* b", "a     "),
        ("// a \\\n b\nc", "      \n  \nc"),
    ],
)
def test_comments_are_blanked(text: str, expected: str) -> None:
    assert blank_comments(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r'f("a\"b", x)', ["f", "(", r'"a\"b"', ",", "x", ")"]),
        (r'"a\" b', ['"', "a", "\\", '"', "b"]),
        ("'a' 'b", ["'a'", "'", "b"]),
        ("1.5e-3f'0", ["1.5e-3f'0"]),
    ],
)
def test_tokens(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("#define T 1", "#define T 99"),
        ("#define T  1 + 2  // why", "#define T  99  // why"),
        ("# define\tT 1/2/* why", "# define\tT 99/* why"),
        ("#define T /", "#define T 99"),
        ("#define T 1  ", "#define T 99  "),
        ("#define TT 1", "#define TT 1"),
    ],
)
def test_value_of_a_define_is_set(line: str, expected: str) -> None:
    assert set_defines(f"x\n{line}\ny", {"T": "99"})[0] == f"x\n{expected}\ny"


def test_template_is_the_kernels_own() -> None:
    text = "template <int A> void f() {} template <int N = 4> __global__ void k(float* x) {}"
    plain, values, left = instantiate(text, "k", {"M": "1"})
    assert plain == text.replace("template <int N = 4>", " " * 20)
    assert (values, left) == ([("N", "4")], {"M": "1"})
    assert instantiate(text, "f", {})[0] == text  # no kernel


@pytest.mark.parametrize("sign", ["#", "%:", "??="])
@pytest.mark.parametrize("between", ["", " ", "/**/", "/* * / */ \t/*\n*/", "/*/*/", "/*#/**/"])
def test_directive_is_found_behind_comments(sign: str, between: str) -> None:
    for hidden in (f"'{sign}{between}include <x>'", f"/* {sign}{between}import */"):
        with pytest.raises(SourceError, match="not even in a comment"):
            check_directives(f"int a;\n// {hidden}\n")
    check_directives(f"// {sign}{between}includ\n// {sign}/* include\n")
