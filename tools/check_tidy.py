#!/usr/bin/env python3
"""check_tidy.py [--jobs N] [FILE…]: clang-tidy over the sources, remembering what was clean.

Reads build/release/compile_commands.json. A file counts as clean again while nothing that decides about it has
changed: .clang-tidy, clang-tidy's version, its compile command, its text, and the text of every header of the tree
that it reaches. Headers outside the tree are not part of the key; `rm -r build/tidy-cache` asks again about all.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

import source_tree

_ROOT = pathlib.Path(__file__).resolve().parent.parent
_BUILD = _ROOT / "build/release"
_CACHE = _ROOT / "build/tidy-cache"
_TIDY = "clang-tidy-14"
_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)
_WARNING = re.compile(r"^(?P<where>\S+:\d+:\d+): (?P<kind>warning|error): (?P<what>.*)$")


def reached(path: pathlib.Path, seen: set[pathlib.Path]) -> set[pathlib.Path]:
    """The file and every header of the tree that it includes, directly or not."""
    if path in seen or not path.is_file():
        return seen
    seen.add(path)
    for include in _INCLUDE.findall(source_tree.text(path)):
        reached(_ROOT / "src" / include, seen)
    return seen


def key_of(path: pathlib.Path, command: str, base: str) -> str:
    digest = hashlib.sha256(f"{base}\0{command}\0".encode())
    for part in sorted(reached(path, set())):
        digest.update(str(part.relative_to(_ROOT)).encode() + b"\0" + part.read_bytes() + b"\0")
    return digest.hexdigest()


def tidy(path: pathlib.Path) -> list[str]:
    run = subprocess.run([_TIDY, "--quiet", "-p", str(_BUILD), str(path)],
                         capture_output=True, text=True, errors="replace", check=False)
    lines = []
    for line in run.stdout.splitlines() + run.stderr.splitlines():
        found = _WARNING.match(line)
        if found:
            lines.append(f"{found['where'].removeprefix(str(_ROOT) + '/')}: {found['what']}")
    if run.returncode != 0 and not lines:
        lines.append(f"{path.relative_to(_ROOT)}: clang-tidy failed: {(run.stderr or run.stdout).strip()[-300:]}")
    return lines


def sources() -> dict[pathlib.Path, str]:
    """Compiled files under src/ that are not tests; tests are held by the compiler's warnings alone."""
    entries = json.loads((_BUILD / "compile_commands.json").read_text())
    commands = {pathlib.Path(entry["directory"], entry["file"]).resolve(): entry["command"] for entry in entries}
    return {path: command for path, command in commands.items()
            if path.is_relative_to(_ROOT / "src") and path.is_file() and not path.stem.endswith(("_test", "_fuzz"))}


def main() -> int:
    words = sys.argv[1:]
    jobs = os.cpu_count() or 1
    if words[:1] == ["--jobs"]:
        jobs, words = int(words[1]), words[2:]
    version = subprocess.run([_TIDY, "--version"], capture_output=True, text=True, check=True).stdout
    base = hashlib.sha256((version + source_tree.text(_ROOT / ".clang-tidy")).encode()).hexdigest()
    commands = sources()
    chosen = [pathlib.Path(word).resolve() for word in words] or list(commands)
    unknown = [path for path in chosen if path not in commands]
    if unknown:
        print(f"{unknown[0]}: not a source that build/release compiles; run scripts/build release", file=sys.stderr)
        return 64
    _CACHE.mkdir(parents=True, exist_ok=True)
    keys = {path: key_of(path, commands[path], base) for path in chosen}
    asked = [path for path in chosen if not (_CACHE / keys[path]).exists()]
    started, found = time.monotonic(), set()  # a header's finding comes from each file that includes it
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for path, lines in zip(asked, pool.map(tidy, asked)):
            for line in lines:
                if line not in found:
                    print(line, flush=True)
            found.update(lines)
            if not lines:
                (_CACHE / keys[path]).touch()
    print(f"clang-tidy: {len(asked)} of {len(chosen)} files looked at in {time.monotonic() - started:.0f} s, "
          "the rest known clean", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
