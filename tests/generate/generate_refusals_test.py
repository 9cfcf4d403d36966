"""`weir generate` on bad words and broken files: an error that names it, the contract's exit code, no output."""

import os
import pathlib
import struct
import subprocess

import tool


def text(value):
    return struct.pack("<Q", len(value)) + value


class GenerateRefusals(tool.ToolTest):
    def model(self):
        return next((pathlib.Path(tool.WEIR).parent.parent / "share/weir/models").glob("*.gguf"))

    def file(self, content, name="broken.gguf"):
        path = os.path.join(self.home, name)
        with open(path, "wb") as out:
            out.write(content)
        return path

    def test_words_that_are_wrong_are_64_and_named(self):
        for words, fragment in [
            (["generate", "smollm2"], "--prompt"),
            (["generate", "smollm2", "-p", "x", "-n", "0"], "-n"),
            (["generate", "smollm2", "-p", "x", "-n", "abc"], "abc"),
            (["generate", "smollm2", "-p", "x", "--temperature", "-1"], "--temperature"),
            (["generate", "smollm2", "-p", "x", "--top-p", "2"], "--top-p"),
            (["generate", "smollm2", "-p", "x", "--frobnicate"], "--frobnicate"),
            (["generate", "smollm2", "-p", "x", "--stop", ""], "--stop"),
            (["generate", "smollm2", "-p", "x", "--cache-limit", "8G B"], "8G B"),
            (["generate", "smollm2", "-p", "x", "--memory-limit", "0"], "memory limit"),
            (["generate", "smollm2", "-p", "-"], "stdin"),
            (["generate", "smollm2", "-p", ""], "empty"),
            (["generate", "smollm2", "-p", b"ab\xff"], "byte 2"),
        ]:
            self.assert_refused(self.run_weir(*words), 64, fragment)

    def test_a_memory_limit_that_mlx_would_not_keep_is_64(self):
        words = ["generate", "smollm2", "-p", "x", "--memory-limit", "1GiB", "--allocator", "mlx"]
        self.assert_refused(self.run_weir(*words), 64, "--memory-limit", "--allocator weir")
        done = self.run_weir("generate", "smollm2", "-p", "x", "--allocator", "jemalloc")
        self.assert_refused(done, 64, "--allocator", "jemalloc")

    def test_a_memory_limit_below_the_need_is_75_with_its_sum(self):
        for allocator in ["mlx-policy", "weir"]:
            # In the middle of the weights, and in the middle of a prompt.
            for limit, words in [("50MiB", []), ("126MiB", ["word " * 1500])]:
                prompt = words or ["x"]
                done = self.run_weir("generate", "-p", *prompt, "-n", "2", "--memory-limit", limit,
                                     "--allocator", allocator)
                self.assert_refused(done, 75, "cannot be granted", "live ", "over the memory limit of")

    def test_a_prompt_beyond_the_context_is_64(self):
        done = self.run_weir("generate", "smollm2", "-p", "x", "-n", "9000")
        self.assertEqual(done.returncode, 64)
        self.assertIn(b"8,192", done.stderr)

    def test_files_that_are_no_models_are_65_or_69(self):
        head = self.model().read_bytes()[: 1 << 20]
        huge = struct.pack("<4sIQQ", b"GGUF", 3, 2**63, 2**63)
        hostile = struct.pack("<4sIQQ", b"GGUF", 3, 0, 1) + struct.pack("<Q", 2**63)
        for content, code in [
            (b"", 65), (b"GGUF", 65), (b"not a model at all", 65), (head, 65), (head[:100], 65), (huge, 65),
            (hostile, 65), (struct.pack("<4sIQQ", b"GGUF", 1, 0, 0), 65), (b"\0" * 4096, 65),
        ]:
            path = self.file(content)
            self.assert_refused(self.run_weir("--quiet", "generate", path, "-p", "x"), code, "broken.gguf")
        self.assert_refused(self.run_weir("generate", "/no/such/model.gguf", "-p", "x"), 69, "/no/such/model.gguf")
        self.assert_refused(self.run_weir("--quiet", "generate", self.home, "-p", "x"), 65, self.home)

    def test_a_truncated_model_is_refused_before_any_output(self):
        path = self.file(self.model().read_bytes()[:-1000])
        self.assert_refused(self.run_weir("--quiet", "generate", path, "-p", "x"), 65, "broken.gguf")

    def test_another_template_is_refused_and_raw_is_the_way_out(self):
        model = self.model().read_bytes()
        key = text(b"tokenizer.chat_template")
        at = model.index(key) + len(key) + 4
        length = struct.unpack_from("<Q", model, at)[0]
        other = bytearray(model)
        other[at + 8 : at + 8 + length] = b"{{ bos_token }}".ljust(length)
        path = self.file(bytes(other))
        done = self.run_weir("--quiet", "generate", path, "-p", "x", "-n", "1")
        self.assert_refused(done, 65, "--raw", "bos_token")
        self.assertEqual(self.run_weir("--quiet", "generate", path, "-p", "x", "-n", "1", "--raw").returncode, 0)

    def test_a_full_disk_under_stdout_is_75(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run(
                [tool.WEIR, "generate", "smollm2", "-p", "x", "-n", "1", "--json"],
                stdout=full, stderr=subprocess.PIPE, env=self.environment(), timeout=100, check=False,
            )
        self.assertEqual(done.returncode, 75, done.stderr)

    def test_ctrl_c_ends_with_130_and_the_text_so_far(self):
        import signal
        child = subprocess.Popen(
            [tool.WEIR, "generate", "smollm2", "-p", "Tell me a long story.", "-n", "4000", "--ignore-eos"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment(),
        )
        child.stdout.read(10)  # it has begun
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 130)
        self.assertIn(b"interrupted", errors)


if __name__ == "__main__":
    tool.main()
