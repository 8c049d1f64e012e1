"""A deliverable as it was meant to look: Markdown, without anything that fetches or leads away."""

from __future__ import annotations

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from judging.showing.inert import inert

LONGEST = 200_000  # characters; of a longer document only the source is shown

TAGS = {
    "p", "div", "br", "hr", "em", "strong", "del", "code", "pre", "blockquote",
    "ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip
HEADINGS = {f"md-h{level}" for level in range(1, 7)}


def rendered(source: str) -> SafeString:
    """Return Markdown as HTML that is safe to put into a page.

    HTML in the source shows as it is written, so that a reader sees ``<scratchpad>``. Links
    and images stand as their text alone: their addresses are in the source beside. Headings
    are no headings here, lest a document write the outline of our page.
    """
    html = _MARKDOWN.render(inert(source))
    clean = nh3.clean(html, tags=TAGS, attributes={}, allowed_classes={"div": HEADINGS})
    return mark_safe(clean)  # nh3 has let through nothing but TAGS


def _heading(
    renderer: RendererHTML, tokens: list[Token], index: int, options: object, env: object
) -> str:
    token = tokens[index]
    return f'<div class="md-{token.tag}">' if token.nesting == 1 else "</div>"


def _made() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    markdown.disable(["image", "autolink"])
    markdown.add_render_rule("heading_open", _heading)
    markdown.add_render_rule("heading_close", _heading)
    return markdown


_MARKDOWN = _made()
