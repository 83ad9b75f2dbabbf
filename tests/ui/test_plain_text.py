"""Sentences with a visitor's words as Markdown that shows each of their letters."""

from __future__ import annotations

import pytest

from ui.web_page.plain_text import plain_label, plain_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a_b_c *d* **e**", r"a\_b\_c \*d\* \*\*e\*\*"),
        ("<b>&lt;</b>", r"\<b\>\&lt;\</b\>"),
        ("$x^2$ and $$y$$", r"\$x^2\$ and \$\$y\$\$"),
        (":smile: :material/home: :red[x] a:b", r"\:smile: \:material/home: \:red\[x\] a\:b"),
        ("![a](http://b/c.png)", "!\\[a\\](http:\u2060//b/c.png)"),
        ("HTTPS://b.c www.b.c a.b@c.d", "HTTPS:\u2060//b.c www\u2060.b.c a.b\u2060@c.d"),
        ("http:\u2060//b", r"http:\\u2060//b"),
        ("`code` ~~no~~ \\", r"\`code\` \~\~no\~\~ \\"),
        ("| a |\n|---|", "\\| a \\|  \n\\|---\\|"),
        ("# a\n## b\n#c", "\\# a  \n\\#\\# b  \n\\#c"),
        ("- a\n+ b\n1. c\n2) d", "\\- a  \n\\+ b  \n1\\. c  \n2\\) d"),
        ("a\n---\nb\n===", "a  \n\\---  \nb  \n\\==="),
        ("    x = 1;", "\u00a0" * 4 + "x = 1;"),
        ("\x1b[31mred\x07\u202e", r"\\x1b\[31mred\\x07\\u202e"),
        ("Wait. 3.5 - 2 = 1.5.", "Wait. 3.5 - 2 = 1.5."),
    ],
)
def test_every_letter_is_shown(text: str, expected: str) -> None:
    assert plain_text(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("const float* my_row: rows", "const float* my_row: rows"),
        ("float** a_: holds", "float** a_: holds"),
        ("float *__restrict__ a", r"float \*\_\_restrict\_\_ a"),
        ("__half* a", r"\_\_half\* a"),
        ("Vec<4>* a:smile:", r"Vec\<4\>\* a\:smile:"),
    ],
)
def test_a_label_is_escaped_where_markdown_sees_a_sign(text: str, expected: str) -> None:
    assert plain_label(text) == expected
