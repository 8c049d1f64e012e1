from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from judging.showing.markdown import TAGS, rendered

TAG = re.compile(r"</?([a-zA-Z][\w-]*)([^>]*)>")


@given(st.text(st.sampled_from("<>[]()!#*_`~|\\/:\"'= \n-abjst&;1"), max_size=80))
def test_no_tag_and_no_attribute_comes_through_that_is_not_listed(source: str) -> None:
    for tag, attributes in TAG.findall(rendered(source)):
        assert tag in TAGS
        assert re.fullmatch(r'(?: class="md-h[1-6]")?', attributes)


def test_markup_in_the_source_shows_as_it_is_written() -> None:
    assert "&lt;scratchpad&gt;think&lt;/scratchpad&gt;" in rendered(
        "<scratchpad>think</scratchpad>"
    )


def test_links_and_images_are_their_text_alone() -> None:
    html = rendered(
        "[read](https://evil.example) ![seen](https://evil.example/i.png) <https://evil.example>"
    )
    assert "href" not in html and "src" not in html
    assert "read" in html and "seen" in html


def test_headings_are_no_headings_of_our_page() -> None:
    assert rendered("# One\n\n### Three") == (
        '<div class="md-h1">One</div><div class="md-h3">Three</div>'
    )


def test_tables_lists_and_code_are_kept() -> None:
    html = rendered("| a | b |\n|---|---|\n| 1 | 2 |\n\n- x\n\n```python\nif a < b:\n```\n")
    for part in ("<table>", "<td>1</td>", "<li>x</li>", "<code>if a &lt; b:\n</code>"):
        assert part in html
