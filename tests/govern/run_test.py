"""What `weir run` promises beside governing: the program runs as if its user had started it, and a program that
cannot be governed is told, not run."""

import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import time
import unittest

from governing import WEIR, GoverningTest

_USE_MLX = "import mlx.core as mx; mx.eval(mx.ones((1000,)))"


def static_elf():
    """The head of a program without a dynamic linker, as much as is looked at before it would start."""
    with open("/proc/self/exe", "rb") as own:
        machine = struct.unpack("<H", own.read(20)[18:])[0]
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 2, machine, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    return header + struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, 120, 120, 4096)


class RunTest(GoverningTest):
    def weir(self, *words, **options):
        options = {"cwd": self.root, "env": self.environment(), "capture_output": True, "text": True, "timeout": 60,
                   **options}
        return subprocess.run([WEIR, "run", *map(str, words)], check=False, **options)

    def refused(self, done, code, *fragments):
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stdout, "")
        for fragment in fragments:
            self.assertIn(fragment, done.stderr)

    def wait_for(self, condition, what):
        for _ in range(3000):
            if condition():
                return
            time.sleep(0.01)
        self.fail(f"never: {what}")

    def program(self, name, content, mode=0o755):
        file = self.root / name
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        file.chmod(mode)
        return file


class Words(RunTest):
    def test_a_missing_command_and_wrong_words_are_usage(self):
        self.refused(self.weir(), 64, "names no command")
        self.refused(self.weir("--"), 64, "names no command")
        self.refused(self.weir("python3", "x.py"), 64, "a command stands after --")
        self.refused(self.weir("--allocator", "wier", "--", "true"), 64, "[--allocator]", "did you mean weir?",
                     "mlx, mlx-policy or weir")
        self.refused(self.weir("--children", "maybe", "--", "true"), 64, "[--children]", "yes or no")
        self.refused(self.weir("--cache-limit", "8G B", "--", "true"), 64, "[--cache-limit]")
        self.refused(self.weir("--allocator", "mlx", "--memory-limit", "1GiB", "--", "true"), 64, "[--memory-limit]",
                     "--allocator weir")
        self.refused(self.weir("--allocator", "mlx", "--", "true", env=self.environment(WEIR_MEMORY_LIMIT="1GiB")), 64,
                     "[WEIR_MEMORY_LIMIT]")

    def test_the_limits_are_told_in_exact_bytes_with_what_unset_means(self):
        pool = self.weir("--memory-limit", "1GiB", "--", "true").stderr
        self.assertIn("weir: cache limit unset (follows demand)\n", pool)
        self.assertIn("weir: memory limit 1GiB = 1,073,741,824 bytes (--memory-limit)\n", pool)
        for allocator in ("mlx", "mlx-policy"):
            told = self.weir("--allocator", allocator, "--", "true").stderr
            self.assertIn("weir: cache limit unset (library default, 33,554,432 bytes)\n", told)
        self.assertIn("auto = follows demand", self.weir("--cache-limit", "auto", "--", "true").stderr)
        self.assertEqual(self.weir("--quiet", "--cache-limit", "1MiB", "--", "true").stderr, "")

    def test_a_summary_that_cannot_be_written_is_told_before_anything_starts(self):
        ran = self.root / "ran"
        for file in (self.root / "no/such/folder.json", self.root):
            with self.subTest(file=file):
                done = self.weir("--summary", file, "--", "touch", ran)
                self.assertIn(done.returncode, (64, 69), done.stderr)
                self.assertIn("--summary", done.stderr)
        self.refused(self.weir("--summary", "/dev/null", "--", "touch", ran), 64, "not a regular file")
        self.assertFalse(ran.exists())
        self.assertFalse(pathlib.Path("/dev/null").is_file())

    def test_a_summary_may_have_the_longest_name_and_no_longer_one(self):
        ran = self.root / "ran"
        self.refused(self.weir("--summary", "", "--", "touch", ran), 64, "[--summary] names no file")
        self.refused(self.weir("--summary", self.root / ("n" * 300), "--", "touch", ran), 69, "name too long")
        self.assertFalse(ran.exists())
        longest = self.root / ("n" * 255)
        self.assertEqual(self.weir("--summary", longest, "--", "true").returncode, 0)
        self.assertEqual(json.loads(longest.read_text())["exit_code"], 0)

    def test_a_summary_is_for_its_user_and_goes_where_a_symbolic_link_points(self):
        target, link = self.root / "target", self.root / "link"
        target.touch(mode=0o644)
        link.symlink_to(target)
        self.assertEqual(self.weir("--summary", link, "--", "true").returncode, 0)
        self.assertTrue(link.is_symlink())
        self.assertEqual((json.loads(target.read_text())["exit_code"], target.stat().st_mode & 0o777), (0, 0o600))

    def test_limited_memory_does_not_keep_weir_from_starting(self):
        for limit in ("-v 200000", "-d 20000"):
            with self.subTest(limit=limit):
                # Nothing preloaded: OpenBLAS's threads would keep `true` itself from ending.
                done = subprocess.run(["sh", "-c", f"ulimit {limit}; exec {WEIR} run -- true"], cwd=self.root, timeout=30,
                                      env=self.environment(LD_PRELOAD=""), capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_machine_without_proc_is_told(self):
        if self.plain(["unshare", "-m", "umount", "-l", "/proc"]).returncode != 0:
            self.skipTest("no mount namespaces here")
        done = self.plain(["unshare", "-m", "sh", "-c", f"umount -l /proc; exec {WEIR} run -- true"])
        self.refused(done, 69, "[/proc]")

    def test_json_is_the_last_line_on_stderr(self):
        done = self.weir("--json", "--", "sh", "-c", "echo out; echo err >&2; exit 5")
        self.assertEqual((done.returncode, done.stdout), (5, "out\n"))
        told = json.loads(done.stderr.splitlines()[-1])
        self.assertEqual((told["governed"], told["reason"]), (False, "no MLX was loaded"))
        self.assertEqual((told["exit_origin"], told["exit_code"], told["child_exit_code"]), ("child", 5, 5))
        self.assertEqual(told["command"], "sh")
        self.assertIsNone(told["layers_peak"])


class Codes(RunTest):
    def test_the_childs_code_and_signal_are_weirs(self):
        for script, code, origin in (("exit 0", 0, "child"), ("exit 7", 7, "child"), ("exit 69", 69, "child"),
                                     ("kill -TERM $$", 143, "signal"), ("kill -SEGV $$", 139, "signal"),
                                     ("kill -KILL $$", 137, "signal")):
            with self.subTest(script=script):
                done = self.plain([*self.weir_run(), "sh", "-c", script])
                self.assertEqual(done.returncode, code)
                summary = self.summary()
                self.assertEqual((summary["exit_origin"], summary["exit_code"]), (origin, code))
                self.assertEqual("was ended by signal" in done.stderr, origin == "signal")

    def test_what_cannot_be_started_is_69_and_in_the_summary(self):
        plain = self.program("plain", "x", 0o644)
        for command, fragment in (("no-such-program", "no program of this name"), ("/no/such/program", "No such file"),
                                  (str(plain), "chmod +x"), (str(self.root), "a folder")):
            for more in ([], ["--best-effort"]):
                with self.subTest(command=command, more=more):
                    self.refused(self.plain([*self.weir_run(*more), command]), 69, fragment)
                    summary = self.summary()
                    self.assertEqual((summary["governed"], summary["exit_origin"]), (False, "weir"))
                    self.assertIn(fragment, summary["reason"])
                    self.assertIsNone(summary["child_exit_code"])

    def test_scripts_run_with_and_without_a_first_line(self):
        for name, text in (("by_env", "#!/usr/bin/env sh\necho $0 ran\n"), ("direct", "#!/bin/sh\necho $0 ran\n"),
                           ("bare", "echo $0 ran\n")):
            with self.subTest(name=name):
                done = self.weir("--", f"./{self.program(name, text).name}")
                self.assertEqual((done.returncode, done.stdout), (0, f"./{name} ran\n"), done.stderr)


class Unseen(RunTest):
    """Governed programs that can make no page, or call themselves by another number."""

    def run_unseen(self, *command):
        done = self.plain([*self.weir_run(), *command, sys.executable, "-c", _USE_MLX + "; import time; time.sleep(1)"])
        self.assertEqual(done.returncode, 0, done.stderr)
        summary = self.summary()
        self.assertEqual((summary["ungoverned"], summary["exit_origin"]), ([], "child"), done.stderr)
        return done, summary

    def test_a_program_that_may_write_no_page_is_governed_and_not_known(self):
        done, summary = self.run_unseen("sh", "-c", 'ulimit -f 2; exec "$@"', "sh")
        self.assertIn("ran MLX governed, but its counters could not be seen", done.stderr)
        self.assertEqual((summary["governed"], summary["refusals"], summary["processes"]), (None, None, []))

    def test_a_program_in_a_pid_namespace_is_no_ungoverned_one(self):
        space = ("unshare", "--fork", "--pid", "--mount-proc")
        if self.plain([*space, "true"]).returncode != 0:
            self.skipTest("no PID namespaces here")
        _, summary = self.run_unseen(*space)
        self.assertIsNot(summary["governed"], False)

    def test_a_program_that_executes_itself_anew_does_not_live_on(self):
        code = f"{_USE_MLX}; import os, sys, time; time.sleep(0.2); n = int(sys.argv[1]); n and os.execv(sys.executable, [sys.executable, sys.argv[2], str(n - 1), sys.argv[2]])"
        script = self.program("again.py", code)
        done = self.plain([*self.weir_run(), sys.executable, script, "2", script])
        self.assertEqual(done.returncode, 0, done.stderr)
        processes = self.summary()["processes"]
        self.assertEqual([one["alive"] for one in processes], [False] * 3)
        self.assertNotIn("lives on", done.stderr)
        self.no_pages_left()


class Attaching(RunTest):
    def not_attached(self, command, fragment, code=0):
        self.refused(self.plain([*self.weir_run(), *command]), 69, fragment, "--best-effort")
        self.assertIs(self.summary()["governed"], False)
        done = self.plain([*self.weir_run("--best-effort"), *command])
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn("warning: ", done.stderr)
        summary = self.summary()
        self.assertIs(summary["governed"], False)
        self.assertIn(fragment, summary["reason"])

    def test_a_static_program(self):
        compiler = shutil.which("cc")
        source = self.program("static.c", "int main(void) { return 3; }")
        program = self.root / "static"
        if compiler and subprocess.run([compiler, "-static", source, "-o", program], capture_output=True, check=False).returncode == 0:
            self.not_attached([str(program)], "is linked statically", code=3)
        self.refused(self.weir("--", self.program("head", static_elf())), 69, "is linked statically")

    def test_a_program_that_becomes_somebody_else(self):
        if os.geteuid() != 0:
            self.skipTest("only root can give a file away")
        program = self.root / "true"
        shutil.copy("/bin/true", program)
        os.chown(program, 1, 0)
        program.chmod(0o4755)
        self.root.chmod(0o755)
        self.not_attached([str(program)], "is set-user-ID")

    def test_a_wrapper_that_wipes_the_environment(self):
        command = ["/usr/bin/env", "-i", sys.executable, "-c", _USE_MLX + "; import time; time.sleep(0.5)"]
        done = self.plain([*self.weir_run(), *command])
        self.assertEqual(done.returncode, 69, done.stderr)
        self.assertIn("without weir's agent", done.stderr)
        summary = self.summary()
        self.assertEqual((summary["governed"], summary["exit_origin"], summary["child_exit_code"]), (False, "weir", 0))
        self.assertEqual(len(summary["ungoverned"]), 1)
        self.assertEqual(self.plain([*self.weir_run("--best-effort"), *command]).returncode, 0)
        command[-1] += "; raise SystemExit(4)"
        self.assertEqual(self.plain([*self.weir_run(), *command]).returncode, 4, "the program's own failure goes first")

    def test_an_installation_without_its_agent_or_in_a_folder_that_cannot_be_preloaded(self):
        for name, fragment in (("bare", "agent is missing"), ("with space", "LD_PRELOAD cannot name")):
            with self.subTest(name=name):
                folder = self.root / name
                (folder / "bin").mkdir(parents=True)
                shutil.copy(WEIR, folder / "bin/weir")
                if name != "bare":
                    shutil.copytree(pathlib.Path(WEIR).parent.parent / "lib", folder / "lib")
                run = [str(folder / "bin/weir"), "run"]
                self.refused(self.plain([*run, "--", "true"]), 69, fragment)
                self.assertEqual(self.plain([*run, "--best-effort", "--", "true"]).returncode, 0)


class Pages(RunTest):
    def refused_folder(self, fragment):
        self.refused(self.weir("--", "true"), 69, fragment)
        summary = self.root / "best.json"
        done = self.weir("--best-effort", "--summary", summary, "--", sys.executable, "-c", _USE_MLX)
        self.assertEqual(done.returncode, 0, done.stderr)
        told = json.loads(summary.read_text())
        self.assertIsNone(told["governed"])
        self.assertIsNone(told["refusals"])

    def test_a_symbolic_link_is_refused(self):
        (self.root / "elsewhere").mkdir(mode=0o700)
        self.pages.symlink_to(self.root / "elsewhere")
        self.refused_folder("a symbolic link")
        self.assertEqual(list((self.root / "elsewhere").iterdir()), [])

    def test_a_folder_of_somebody_else_or_open_to_others_is_refused(self):
        self.pages.mkdir(mode=0o755)
        self.refused_folder("chmod 700")
        if os.geteuid() == 0:
            self.pages.chmod(0o700)
            os.chown(self.pages, 1, 1)
            self.refused_folder("belongs to user 1")

    def test_a_folder_that_cannot_be_made_is_refused(self):
        self.pages = self.root / "no/such/parent"
        self.refused_folder("mkdir -p")

    def test_a_full_folder_is_refused(self):
        mount = f"mkdir -m 700 {self.pages} && mount -t tmpfs -o size=64k,mode=700 none {self.pages}"
        fill = f"cat /dev/zero > {self.pages}/filler 2>/dev/null"
        probe = ["unshare", "-m", "sh", "-c", f"{mount}"]
        if self.plain(probe).returncode != 0:
            self.skipTest("no mount namespaces here")
        self.pages.rmdir()
        done = self.plain(["unshare", "-m", "sh", "-c", f"{mount}; {fill}; exec {WEIR} run -- true"])
        self.refused(done, 69, "No space left")

    def test_a_folder_that_goes_while_the_program_runs_makes_the_answer_unknown(self):
        script = f'rm -r "$WEIR_AGENT_PAGES"; exec {sys.executable} -c "{_USE_MLX}"'
        done = self.plain([*self.weir_run(), "sh", "-c", script])
        self.assertEqual(done.returncode, 0, done.stderr)
        # The second where it lived long enough to be seen without a page.
        self.assertRegex(done.stderr, "not known|could not be seen")
        self.assertIsNone(self.summary()["governed"])

    def test_ten_thousand_stale_pages_go_and_living_ones_stay(self):
        self.pages.mkdir(mode=0o700)
        for number in range(10_000):
            (self.pages / f"{2_000_000_000 + number}-{2_100_000_000 + number}.page").write_bytes(bytes(4096))
        (self.pages / "notes.txt").write_text("mine")
        (self.pages / f"{os.getpid()}-{os.getpid()}.page").write_bytes(bytes(4096))
        done = self.weir("--", sys.executable, "-c", _USE_MLX)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("governed by weir", done.stderr)
        self.assertEqual(sorted(path.name for path in self.pages.iterdir()), [f"{os.getpid()}-{os.getpid()}.page", "notes.txt"])

    def test_a_killed_weir_leaves_the_program_alone_and_its_page_to_the_next_run(self):
        ready, ended = self.root / "ready", self.root / "ended"
        code = f"{_USE_MLX}; import time, pathlib; pathlib.Path({str(ready)!r}).touch(); time.sleep(0.5); pathlib.Path({str(ended)!r}).touch()"
        weir = subprocess.Popen([WEIR, "run", "--quiet", "--", sys.executable, "-c", code], env=self.environment(), cwd=self.root)
        self.wait_for(ready.exists, "the program starts")
        weir.kill()
        weir.wait()
        self.wait_for(ended.exists, "the program ends by itself")
        self.wait_for(lambda: self.weir("--", "true").returncode == 0 and not list(self.pages.glob("*.page")), "the page goes")


class Nested(RunTest):
    def test_an_inner_run_keeps_the_outer_limits_and_both_tell_of_the_program(self):
        inner = self.root / "inner.json"
        done = self.plain([*self.weir_run("--cache-limit", "3MiB"), WEIR, "run", "--cache-limit", "5MiB", "--summary", inner, "--",
                           sys.executable, "-c", _USE_MLX])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("inside another weir run", done.stderr)
        outer, inner = self.summary(), json.loads(inner.read_text())
        for summary in (outer, inner):
            self.assertIs(summary["governed"], True)
            self.assertEqual([one["cache_limit_bytes"] for one in summary["processes"]], [3 << 20])
        self.no_pages_left()

    def test_an_inner_run_leaves_the_pages_to_the_outer_one(self):
        inner = f"{WEIR} run --quiet -- {sys.executable} -c '{_USE_MLX}'"
        done = self.plain([*self.weir_run("--quiet"), "sh", "-c", f'{inner}; ls "$WEIR_AGENT_PAGES"'])
        self.assertRegex(done.stdout, r"^\d+-\d+\.page\n$")
        self.no_pages_left()


if __name__ == "__main__":
    unittest.main()
