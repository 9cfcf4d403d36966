#!/usr/bin/env python3
"""check_layers.py [ROOT]: every #include "folder/…" under src/ obeys cmake/layers.txt, transitively."""

import re

import source_tree

_RULE = re.compile(r"^([a-z]+):(.*)$")
_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')


def read_layers(text: str) -> dict[str, set[str]]:
    """Each layer with all that it may use. A line may name only layers of lines above it."""
    reach: dict[str, set[str]] = {}
    for line in text.splitlines():
        rule = _RULE.match(line)
        if not rule:
            continue
        uses = rule[2].split()
        for used in uses:
            if used not in reach:
                raise ValueError(f"cmake/layers.txt: {rule[1]} uses {used}, which no line above it names")
        reach[rule[1]] = set(uses).union(*(reach[used] for used in uses))
    return reach


def check(root):
    try:
        reach = read_layers(source_tree.text(root / "cmake/layers.txt"))
    except ValueError as error:
        yield f"{error}; order the lines from lowest to highest"
        return
    for path in source_tree.files(root):
        if path.suffix not in source_tree.CXX or path.parts[0] != "src" or len(path.parts) < 3:
            continue
        layer = path.parts[1]
        if layer not in reach:
            yield f"{path}: layer '{layer}' is unknown; add a line to cmake/layers.txt"
            continue
        for number, line in enumerate(source_tree.text(root / path).splitlines(), 1):
            include = _INCLUDE.match(line)
            if not include:
                continue
            where = f"{path}:{number}"
            target = include[1].split("/")[0]
            if not (root / "src" / include[1]).is_file():
                yield f'{where}: "{include[1]}" is not a file under src/; write project paths from src/, others in <>'
            elif target != layer and target not in reach[layer]:
                allowed = " ".join(sorted(reach[layer])) or "nothing"
                yield f"{where}: {layer} may not use {target}; cmake/layers.txt allows: {allowed}"


if __name__ == "__main__":
    source_tree.main(check)
