"""What belongs to the tree: files that git tracks or would track. Shared by the checks in this folder."""

import pathlib
import subprocess
import sys

CXX = {".h", ".cpp"}
_BUILT = {".git", ".venv", "build", "node_modules", ".cache", "__pycache__"}


def files(root: pathlib.Path) -> list[pathlib.Path]:
    """Relative paths, sorted. Without git (an unpacked archive) everything but built folders counts."""
    listed = subprocess.run(
        ["git", "-c", "safe.directory=*", "-C", str(root), "ls-files", "-z", "-co", "--exclude-standard"],
        capture_output=True, text=True, check=False) if (root / ".git").exists() else None
    if listed is not None and listed.returncode == 0:
        names = {pathlib.Path(name) for name in listed.stdout.split("\0") if name}
    else:
        names = {path.relative_to(root) for path in root.rglob("*")
                 if not _BUILT & set(path.relative_to(root).parts)}
    return sorted(name for name in names if (root / name).is_file())


def text(path: pathlib.Path) -> str:
    """The file as UTF-8; bytes that are not are kept apart, so that no check stops on them."""
    return path.read_text(encoding="utf-8", errors="surrogateescape")


def main(check) -> None:
    """Runs `check(root)`, which yields findings ("where: what; mend"), and exits 1 when there are any."""
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    found = sorted(set(check(root.resolve())))
    for finding in found:
        print(finding)
    sys.exit(1 if found else 0)
