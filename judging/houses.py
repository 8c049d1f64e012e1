"""The makers of models, and the words by which one can be told.

What an agent or a seat is made of is nothing that a judge, a reviewer or, while a case is open,
a competitor may learn: whoever takes names out of texts takes these words.
"""

from __future__ import annotations

from collections.abc import Mapping

# Where one of these words is in the name of a model, the others of its house tell as much.
HOUSES: Mapping[str, frozenset[str]] = {
    "anthropic": frozenset({"anthropic", "claude", "sonnet", "opus", "haiku", "fable", "mythos"}),
    "openai": frozenset({"openai", "chatgpt", "gpt", "codex", "o1", "o3", "o4"}),
    "google": frozenset({"google", "gemini", "gemma", "deepmind"}),
    "meta": frozenset({"meta", "llama"}),
    "alibaba": frozenset({"alibaba", "qwen"}),
    "mistral": frozenset({"mistral", "mixtral", "codestral", "devstral", "magistral"}),
    "xai": frozenset({"xai", "grok"}),
}

# Words that mean something else in most texts: a switch of a compiler, a tag of a page.
_EVERYDAY = frozenset({"o1", "o3", "o4", "meta", "fable", "mythos"})

# What tells of a model wherever it stands, whatever the model: "As Claude, I find …".
TELLING = tuple(sorted(frozenset().union(*HOUSES.values()) - _EVERYDAY))
