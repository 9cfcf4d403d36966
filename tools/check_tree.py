#!/usr/bin/env python3
"""check_tree.py [ROOT]: the shape of the tree: sizes, names, folder READMEs, header ownership, no machine paths."""

import pathlib
import re

import source_tree

_README_LINES = 30
_HEADER_LINES = 150
_SOURCE_LINES = 400
_BANNED = re.compile(r"(^|_)(utils?|helpers?|common|misc|manager)(_|\.|$)")
_FILE_NAME = re.compile(r"^[a-z0-9_]+\.(h|cpp)$")
# Spelled in pieces, so that this file does not find itself.
_PRIVATE = re.compile("|".join([
    r"(?<![\w.])/" + r"work/", r"(?<![\w.])/" + r"home/(?!(?:u|me|you|user)\b)\w", r"(?<![\w.])/" + r"root/", r"(?<![\w.])/" + r"Users/\w",
    r"/tmp/" + r"build", r"pypi\." + r"org", r"python" + r"hosted\.org", r"registry\." + r"npmjs",
    r"deb\." + r"debian\.org"]))
_NEEDS_README = re.compile(r"^(src/[^/]+|src/llm/[^/]+|tests(/[^/]+)?|bench|changes|workloads)$")


def _is_table(path: pathlib.Path) -> bool:
    """Generated tables of known answers may be long."""
    return path.name.startswith("known_answers")


def _check_cxx(root, path):
    lines = source_tree.text(root / path).count("\n")
    if path.suffix == ".h":
        if lines > _HEADER_LINES and not _is_table(path):
            yield f"{path}: {lines} lines; a header has at most {_HEADER_LINES}: split it by its nouns"
        if not re.search(r"^#pragma once$", source_tree.text(root / path), re.M):
            yield f"{path}: no '#pragma once'; put it on the first line"
    elif lines > _SOURCE_LINES and not _is_table(path):
        yield f"{path}: {lines} lines; a source has at most {_SOURCE_LINES}: split it by what it does"
    if not _FILE_NAME.match(path.name):
        yield f"{path}: file names are snake_case.h and snake_case.cpp; rename it"


def _check_names(names):
    for name in sorted({part for path in names for part in path.parts}):
        if _BANNED.search(name):
            yield f"{name}: names nothing; call it by the field's word for what it does"


def _check_readmes(root, names):
    folders = {str(parent) for path in names for parent in path.parents}
    for folder in sorted(folders):
        if _NEEDS_README.match(folder) and not folder.endswith("_corpus") and not (root / folder / "README.md").is_file():
            yield f"{folder}: no README.md; say what it is for, what it may use, where to start, how to add one more"
    for path in names:
        if path.name != "README.md" or len(path.parts) == 1:
            continue
        lines = source_tree.text(root / path).count("\n")
        if lines > _README_LINES:
            yield f"{path}: {lines} lines; a folder's README has at most {_README_LINES}: move the rest to docs/"


def _check_ownership(root, names):
    """Every header and source under src/ is named by a build file at or above its folder, up to its library."""
    listed: dict[pathlib.Path, set[str]] = {}
    for path in names:
        if path.parts[0] == "src" and (path.name == "CMakeLists.txt" or path.suffix == ".cmake"):
            words = set(re.findall(r"[\w./-]+\.(?:h|cpp)\b", source_tree.text(root / path)))
            listed.setdefault(path.parent, set()).update(words)
    for path in names:
        if path.parts[0] != "src" or path.suffix not in source_tree.CXX:
            continue
        owners = [parent for parent in path.parents if parent in listed]
        if not any({path.relative_to(owner).as_posix(), path.relative_to("src").as_posix(),
                    path.relative_to(pathlib.Path(*path.parts[:2])).as_posix()} & listed[owner] for owner in owners):
            yield f"{path}: no CMakeLists.txt or sources.cmake names it; list it there, or delete it"


def _check_private(root, names):
    for path in names:
        if path.suffix in {".gguf", ".png"} or "_corpus" in str(path) or path.name.startswith("requirements"):
            continue
        for number, line in enumerate(source_tree.text(root / path).splitlines(), 1):
            found = _PRIVATE.search(line)
            if found:
                yield f"{path}:{number}: '{found[0]}' names one machine or one host; write it without"


def check(root):
    names = source_tree.files(root)
    for path in names:
        if path.suffix in source_tree.CXX:
            yield from _check_cxx(root, path)
    yield from _check_names(names)
    yield from _check_readmes(root, names)
    yield from _check_ownership(root, names)
    yield from _check_private(root, names)


if __name__ == "__main__":
    source_tree.main(check)
