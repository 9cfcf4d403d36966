#!/usr/bin/env python3
"""Each rule sees the violation that is planted for it, and says nothing about a tree without one."""

import contextlib
import io
import pathlib
import subprocess
import sys
import tempfile
import unittest

import check_docs
import check_layers
import check_tree
import source_tree

LAYERS = "base:\nlimits: base\nledger: base\ngovern: limits\n"
HEADER = "#pragma once\n"


class Planted(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        self.write("cmake/layers.txt", LAYERS)
        for layer in ("base", "limits", "ledger", "govern"):
            self.write(f"src/{layer}/a.h", HEADER)
            self.write(f"src/{layer}/README.md", "# it\n")
            self.write(f"src/{layer}/CMakeLists.txt", "HEADERS a.h")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def only(self, check, *parts):
        """One finding, which holds every part."""
        found = list(check.check(self.root))
        self.assertEqual(len(found), 1, found)
        for part in parts:
            self.assertIn(part, found[0])

    def test_a_clean_tree_has_no_finding(self):
        for check in (check_layers, check_tree, check_docs):
            self.assertEqual(list(check.check(self.root)), [])

    def test_an_include_of_a_higher_layer_is_found(self):
        self.write("src/limits/a.h", HEADER + '#include "govern/a.h"\n')
        self.only(check_layers, "src/limits/a.h:2", "limits may not use govern", "allows: base")

    def test_an_include_of_a_neighbour_is_found(self):
        self.write("src/ledger/a.h", HEADER + '#include "limits/a.h"\n')
        self.only(check_layers, "ledger may not use limits")

    def test_what_a_lower_layer_reaches_is_allowed(self):
        self.write("src/govern/a.h", HEADER + '#include "base/a.h"\n')
        self.assertEqual(list(check_layers.check(self.root)), [])

    def test_an_include_that_is_not_from_src_is_found(self):
        self.write("src/limits/a.h", HEADER + '#include "a.h"\n')
        self.only(check_layers, '"a.h" is not a file under src/')

    def test_a_layer_without_a_line_is_found(self):
        self.write("src/pool/a.h", HEADER)
        self.only(check_layers, "'pool' is unknown")

    def test_layers_out_of_order_are_found(self):
        self.write("cmake/layers.txt", "limits: base\nbase:\n")
        self.only(check_layers, "no line above")

    def test_a_long_header_is_found(self):
        self.write("src/base/a.h", HEADER + "\n" * 150)
        self.only(check_tree, "151 lines", "at most 150")

    def test_a_long_source_is_found(self):
        self.write("src/base/b.cpp", "\n" * 401)
        self.write("src/base/CMakeLists.txt", "a.h b.cpp")
        self.only(check_tree, "401 lines", "at most 400")

    def test_a_header_without_pragma_once_is_found(self):
        self.write("src/base/a.h", "\n")
        self.only(check_tree, "#pragma once")

    def test_a_name_that_names_nothing_is_found(self):
        self.write("docs/string_utils.md", "")
        self.only(check_tree, "string_utils.md")

    def test_a_file_that_no_build_file_names_is_found(self):
        self.write("src/base/orphan.h", HEADER)
        self.only(check_tree, "orphan.h", "no CMakeLists.txt")

    def test_a_file_of_a_room_may_be_listed_from_its_library(self):
        self.write("src/base/room/b.h", HEADER)
        self.write("src/base/sources.cmake", "room/b.h")
        self.assertEqual(list(check_tree.check(self.root)), [])

    def test_a_folder_without_readme_is_found(self):
        (self.root / "src/base/README.md").unlink()
        self.only(check_tree, "src/base: no README.md")

    def test_a_long_readme_is_found(self):
        self.write("src/base/README.md", "\n" * 31)
        self.only(check_tree, "31 lines")

    def test_a_path_of_one_machine_is_found(self):
        self.write("docs/a.md", "see /" + "home/someone/x\n")
        self.only(check_tree, "docs/a.md:1")

    def test_a_link_to_no_file_is_found(self):
        self.write("docs/a.md", "# A\n[x](b.md)\n")
        self.only(check_docs, "docs/a.md:2", "'b.md' does not exist")

    def test_a_link_to_no_heading_is_found(self):
        self.write("docs/a.md", "# Some words, here\n[x](#some-words)\n")
        self.only(check_docs, "'#some-words'")

    def test_good_links_and_code_are_left_alone(self):
        self.write("docs/b.md", "## `weir` and more\n")
        self.write("docs/a.md", "[x](b.md#weir-and-more) `[y](gone.md)` [z](https://example.com/a)\n```\n[q](gone)\n```\n")
        self.assertEqual(list(check_docs.check(self.root)), [])

    def test_a_link_out_of_the_tree_is_found(self):
        self.write("docs/a.md", "[x](../../)\n")
        self.only(check_docs, "leaves the repository")

    def test_a_long_function_is_found_by_clang_tidy(self):
        config = pathlib.Path(__file__).resolve().parent.parent / ".clang-tidy"
        self.write("a.cpp", "void long_one() {\n" + "  ;\n" * 61 + "}\n")
        run = subprocess.run(["clang-tidy-14", "--quiet", f"--config-file={config}", str(self.root / "a.cpp"), "--"],
                             capture_output=True, text=True, check=False)
        self.assertIn("readability-function-size", run.stdout)
        self.assertNotEqual(run.returncode, 0)

    def test_findings_make_the_exit_code(self):
        self.write("docs/a.md", "[x](b.md)\n")
        with contextlib.redirect_stdout(io.StringIO()) as printed, self.assertRaises(SystemExit) as end:
            self.addCleanup(sys.argv.__setitem__, slice(1, None), sys.argv[1:])
            sys.argv[1:] = [str(self.root)]
            source_tree.main(check_docs.check)
        self.assertEqual(end.exception.code, 1)
        self.assertIn("docs/a.md:1", printed.getvalue())


if __name__ == "__main__":
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(Planted)
    quiet = "-q" in sys.argv
    report = io.StringIO() if quiet else sys.stderr
    result = unittest.TextTestRunner(stream=report, verbosity=1).run(suite)
    if quiet and not result.wasSuccessful():
        print(report.getvalue())
    sys.exit(0 if result.wasSuccessful() else 1)
