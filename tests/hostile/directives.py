"""Every spelling of a directive that names a file, for both compilers: none may open it.

The file exists while these are read; its only line is an #error that says FOUND.
"""

from __future__ import annotations

from collections.abc import Iterator

FOUND = "a file of the host was read"
OLDER = "a file of the host is older"
SIGNS = ("#", "%:", "??=")
SPACES = {
    "a space": " ", "a tab": "\t", "a form feed": "\f", "a vertical tab": "\v",
    "a space that does not break": "\u00a0", "a next line": "\x85", "a line separator": "\u2028",
    "a Mongolian separator": "\u180e", "an Ogham space": "\u1680", "a wide space": "\u3000",
    "no width": "\u200b", "a mark": "\ufeff", "a carriage return": "\r", "a control letter": "\x01",
    "an escape": "\x1b", "a comment": "/**/", "comments": "/* * / */ /*/*/",
}  # fmt: skip
LINE_ENDS = {
    "\\n": "\n", "\\r\\n": "\r\n", "\\r": "\r", "\\n\\r": "\n\r", "\\f\\n": "\f\n",
    "\\v\\r": "\v\r", "a line separator": "\u2028", "a next line": "\x85",
}  # fmt: skip
BACKSLASHES = {"backslash": "\\", "backslash and blanks": "\\ \t ", "trigraph": "??/"}
# What one lexer takes for a comment or a string, and another not; the directive is a line of it.
DISGUISES = {
    "a raw string": 'const char* s = R"(\n{}\n)";\n',
    "a raw string in a macro": '#define A R"(\n{}\n//)"\n',
    "behind a raw string": 'int a = sizeof(R"x("/*)x");\n{}\n//*/\n',
    "a digit separator": "int a = 1'0; // ' /*\n{}\n// */\n",
    "two digit separators": "int b = 1'0\"' /* \";\n{}\n//*/\n",
    "a comment": "/*\n{}\n*/\n",
    "a spliced comment": "// \\\n{}\n",
    "a condition": "#if 0\n{}\n#endif\n",
    "another branch": "#if 1\n#else\n{}\n#endif\n",
    "a macro's arguments": "#define F(x) x\nF(\n{}\n)\n",
}


def spellings(file: str) -> Iterator[tuple[str, str]]:
    """A name and a text for each way to ask a compiler for a file that exists."""
    asked = f'include "{file}"'
    for sign in SIGNS:
        yield sign, f"{sign}{asked}\n"
        for name, space in SPACES.items():
            yield f"{sign}, {name} behind it", f"{sign}{space}{asked}\n"
            yield f"{sign}, {name} before it", f"{space}{sign}{asked}\n"
            yield f"{sign}, {name} behind the name", f'{sign}include{space}"{file}"\n'
        for kind, backslash in BACKSLASHES.items():
            for name, end in LINE_ENDS.items():
                splice, said = backslash + end, f"{sign}, spliced by {kind} and {name}"
                yield f"{said} in the name", f'{sign}inc{splice}lude "{file}"\n'
                yield f"{said} before the name", f"{sign}{splice}{asked}\n"
                yield f"{said} in the sign", f"{sign[0]}{splice}{sign[1:]}{asked}\n"
    for name, end in LINE_ENDS.items():
        yield f"behind a comment that {name} ends", f"// why{end}#{asked}\n"
    for name, text in DISGUISES.items():
        yield name, text.format(f"#{asked}")
        yield f"{name}, a pragma", text.format(f'#pragma GCC dependency "{file}" {OLDER}')
        yield f"{name}, a digraph", text.format(f"%:{asked}")
    for pragma in (f'GCC dependency "{file}" {OLDER}', f'GCC dependency "{file}.none" {OLDER}'):
        quoted = pragma.replace('"', '\\"')
        yield f"#pragma {pragma[-30:]}", f"#pragma {pragma}\n"
        yield f"#pragma/**/ {pragma[-30:]}", f"#pragma/**/{pragma}\n"
        yield f"_Pragma {pragma[-30:]}", f'_Pragma("{quoted}")\n'
        yield f"_Pragma spliced {pragma[-30:]}", f'_Pra\\\ngma("{quoted}")\n'
        yield f"_Pragma of a macro {pragma[-30:]}", f"#define P(a) _Pragma(#a)\nP({pragma})\n"
        yield f"_Pragma pasted {pragma[-30:]}", f'#define P _Pra##gma\nP("{quoted}")\n'
        yield f"_Pragma undefined {pragma[-30:]}", f'#undef _Pragma\n_Pragma("{quoted}")\n'
    yield "#include_next", f'#include_next "{file}"\n'
    yield "#import", f'#import "{file}"\n'
    yield "#include of a macro", f'#define F "{file}"\n#include F\n'
    yield "#include in brackets", f"#include <{file}>\n"
    yield "#embed", f'const int a[] = {{\n#embed "{file}"\n}};\n'
    yield "#line", f'#line 3 "{file}"\nint a = oh;\n'
    yield "a line's number", f'# 3 "{file}"\nint a = oh;\n'
    yield "#__include_macros", f'#__include_macros "{file}"\n'
    yield "a letter by its number", f'#\\u0069nclude "{file}"\n'
    yield "a module", f'import "{file}";\n'
    yield "#pragma of a module", "#pragma clang module import a\n"
    for word in ("__has_include", "__has_include_next", "__has_embed"):
        for name, written in {
            word: word, f"{word} spliced": f"{word[:6]}\\\n{word[6:]}",
            f"{word} spliced by \\r": f"{word[:6]}\\\r{word[6:]}",
            f"{word} pasted": f"P({word[:6]}, {word[6:]})",
            f"{word} undefined": word,
        }.items():  # fmt: skip
            before = "#define P(a, b) a##b\n" if "pasted" in name else ""
            before += f"#undef {word}\n" if "undefined" in name else ""
            yield name, f'{before}#if {written}("{file}")\n#error {FOUND}\n#endif\n'
    for pasting in ("%:%:", "#\\\n#", "#\\\r#", "??=??="):
        yield (f"__has_include pasted by {pasting!r}",
               f"#define P(a, b) a{pasting}b\n"
               f'#if P(__has, _include)("{file}")\n#error {FOUND}\n#endif\n')  # fmt: skip
