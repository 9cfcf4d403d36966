#!/usr/bin/env python3
"""check_docs.py [ROOT]: relative links in *.md lead to a file, and their anchors to a heading."""

import re

import source_tree

_FENCE = re.compile(r"^\s*(```|~~~)")
_LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
_REFERENCE = re.compile(r"^\s*\[[^\]]+\]:\s+(\S+)")
_HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*\s*$")
_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*:", re.I)


def prose(text: str):
    """(number, line) outside code fences; what stands in `code` is blanked."""
    fence = None
    for number, line in enumerate(text.splitlines(), 1):
        mark = _FENCE.match(line)
        if mark and fence in (None, mark[1]):
            fence = None if fence else mark[1]
        elif fence is None:
            yield number, re.sub(r"`[^`]*`", lambda code: " " * len(code[0]), line), line


def anchors(text: str) -> set[str]:
    """The anchors that a reader's browser knows: lower case, no punctuation, dashes for spaces."""
    found: dict[str, int] = {}
    result = set()
    for _, _, line in prose(text):
        heading = _HEADING.match(line)
        if not heading:
            continue
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1])
        slug = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        count = found.get(slug, 0)
        found[slug] = count + 1
        result.add(slug if count == 0 else f"{slug}-{count}")
    return result


def _problem(root, path, link):
    target, _, anchor = link.partition("#")
    file = (root / path.parent / target) if target else root / path
    if not file.exists():
        return f"'{target}' does not exist"
    if not file.resolve().is_relative_to(root):
        return f"'{target}' leaves the repository"
    if anchor and file.suffix == ".md" and anchor not in anchors(source_tree.text(file)):
        return f"no heading has the anchor '#{anchor}'"
    return None


def check(root):
    for path in source_tree.files(root):
        if path.suffix != ".md":
            continue
        for number, line, _ in prose(source_tree.text(root / path)):
            links = _LINK.findall(line) + _REFERENCE.findall(line)
            for link in links:
                problem = None if _SCHEME.match(link) else _problem(root, path, link)
                if problem:
                    yield f"{path}:{number}: {problem}; mend the link"


if __name__ == "__main__":
    source_tree.main(check)
