"""A terminal for tests: a program on a pty of a given size, and what it has drawn, as rows of text."""

import codecs
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

_SEQUENCE = re.compile(r"\x1b(?:\[([?>]?)([\d;]*)([A-Za-z@`])|[()*+](.)|([=>78MDEHc])|\][^\x07]*\x07)")


class TerminalScreen:
    """The part of an xterm that ncurses uses: moving, writing, erasing, inserting, scrolling."""

    def __init__(self, columns: int, rows: int):
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._pending = ""
        self.resize(columns, rows)

    def resize(self, columns: int, rows: int) -> None:
        self.columns, self.height = columns, rows
        self._cells = [[" "] * columns for _ in range(rows)]
        self._row = self._column = 0
        self._top, self._bottom = 0, rows - 1
        self._last = " "

    def rows(self) -> list[str]:
        return ["".join(row).rstrip() for row in self._cells]

    def text(self) -> str:
        return "\n".join(self.rows())

    def feed(self, content: bytes) -> None:
        text = self._pending + self._decoder.decode(content)
        self._pending = ""
        at = 0
        while at < len(text):
            if text[at] != "\x1b":
                self._put(text[at])
                at += 1
                continue
            found = _SEQUENCE.match(text, at)
            if found is None:
                if len(text) - at > 40:
                    raise ValueError(f"an unknown sequence: {text[at:at + 40]!r}")
                self._pending = text[at:]
                return
            if found[3]:
                self._control(found[1], [int(number or 0) for number in found[2].split(";")], found[3])
            elif found[5] == "M":
                self._reverse_index()
            at = found.end()

    def _put(self, character: str) -> None:
        if character == "\r":
            self._column = 0
        elif character == "\n":
            self._index()
        elif character == "\b":
            self._column = max(0, self._column - 1)
        elif character == "\t":
            self._column = min(self.columns - 1, (self._column // 8 + 1) * 8)
        elif character >= " ":
            if self._column >= self.columns:
                self._column = 0
                self._index()
            self._cells[self._row][self._column] = self._last = character
            self._column += 1

    def _index(self) -> None:
        if self._row == self._bottom:
            self._scroll(self._top, 1)
        else:
            self._row = min(self.height - 1, self._row + 1)

    def _reverse_index(self) -> None:
        if self._row == self._top:
            self._scroll(self._top, -1)
        else:
            self._row = max(0, self._row - 1)

    def _scroll(self, top: int, count: int) -> None:
        for _ in range(abs(count)):
            del self._cells[top if count > 0 else self._bottom]
            self._cells.insert(self._bottom if count > 0 else top, [" "] * self.columns)

    def _control(self, private: str, numbers: list[int], final: str) -> None:
        if private:
            if final in "hl" and 1049 in numbers:
                self.resize(self.columns, self.height)
            return
        first = numbers[0]
        count = max(1, first)
        row = self._cells[self._row]
        if final in "Hf":
            self._row = min(self.height, max(1, first)) - 1
            self._column = min(self.columns, max(1, numbers[1] if len(numbers) > 1 else 1)) - 1
        elif final in "ABCDdG`":
            self._move(final, count)
        elif final == "K":
            start, end = {0: (self._column, self.columns), 1: (0, self._column + 1), 2: (0, self.columns)}[first]
            row[start:end] = [" "] * (end - start)
        elif final == "J":
            self._erase_display(first)
        elif final == "X":
            end = min(self.columns, self._column + count)
            row[self._column:end] = [" "] * (end - self._column)
        elif final == "P":
            row[:] = row[:self._column] + row[self._column + count:] + [" "] * count
            del row[self.columns:]
        elif final == "@":
            row[self._column:self._column] = [" "] * count
            del row[self.columns:]
        elif final in "LM":
            self._scroll(self._row, count if final == "M" else -count)
        elif final in "ST":
            self._scroll(self._top, count if final == "S" else -count)
        elif final == "b":
            for _ in range(count):
                self._put(self._last)
        elif final == "r":
            self._top = max(1, first) - 1
            self._bottom = (numbers[1] if len(numbers) > 1 and numbers[1] else self.height) - 1
            self._row = self._column = 0
        elif final not in "mhltc":
            raise ValueError(f"an unknown sequence: {numbers} {final}")

    def _move(self, final: str, count: int) -> None:
        if final == "A":
            self._row = max(0, self._row - count)
        elif final == "B":
            self._row = min(self.height - 1, self._row + count)
        elif final == "C":
            self._column = min(self.columns - 1, self._column + count)
        elif final == "D":
            self._column = max(0, self._column - count)
        elif final == "d":
            self._row = min(self.height, count) - 1
        else:
            self._column = min(self.columns, count) - 1

    def _erase_display(self, what: int) -> None:
        rows = {0: range(self._row + 1, self.height), 1: range(self._row), 2: range(self.height)}[what]
        for number in rows:
            self._cells[number] = [" "] * self.columns
        if what == 0:
            self._cells[self._row][self._column:] = [" "] * (self.columns - self._column)


class Terminal:
    """A program as the foreground job of a terminal of its own."""

    def __init__(self, command: list[str], environment: dict[str, str], columns: int = 80, rows: int = 24):
        self.screen = TerminalScreen(columns, rows)
        self.raw = b""
        ready, go = os.pipe()
        self.pid, self.descriptor = pty.fork()
        if self.pid == 0:
            try:
                os.close(go)
                os.read(ready, 1)  # the size is set before the program looks
                os.execve(command[0], command, environment)
            finally:
                os._exit(127)
        os.close(ready)
        self.set_size(columns, rows)
        self.modes = termios.tcgetattr(self.descriptor)
        os.close(go)
        self.code: int | None = None

    def set_size(self, columns: int, rows: int) -> None:
        """What a person does by pulling at the window."""
        self.screen.resize(columns, rows)
        fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, seconds: float = 0.1) -> bool:
        """False at the end."""
        if not select.select([self.descriptor], [], [], seconds)[0]:
            return True
        try:
            content = os.read(self.descriptor, 65536)
        except OSError:  # how a terminal says its end
            return False
        self.raw += content
        self.screen.feed(content)
        return bool(content)

    def until(self, holds, seconds: float = 20):
        """Draws until `holds(self)`; says what stood there otherwise."""
        end = time.monotonic() + seconds
        while not holds(self):
            if time.monotonic() > end or not self.read():
                if holds(self):
                    return
                raise AssertionError(f"the screen never came to that; it shows:\n{self.screen.text()}")

    def shows(self, *texts: str) -> None:
        self.until(lambda terminal: all(text in terminal.screen.text() for text in texts))

    def type(self, keys: str) -> None:
        os.write(self.descriptor, keys.encode())

    def end(self, seconds: float = 20) -> int:
        """The exit code, once the program has ended."""
        limit = time.monotonic() + seconds
        while self.code is None:
            self.read(0.02)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.code = os.waitstatus_to_exitcode(status)
            elif time.monotonic() > limit:
                raise AssertionError(f"it has not ended; the screen shows:\n{self.screen.text()}")
        while select.select([self.descriptor], [], [], 0)[0] and self.read():
            pass
        return self.code

    def is_restored(self) -> bool:
        """The modes are those from before, and the screen is the normal one."""
        normal = self.raw.rfind(b"\x1b[?1049l") > self.raw.rfind(b"\x1b[?1049h")
        return normal and termios.tcgetattr(self.descriptor) == self.modes

    def close(self) -> None:
        if self.code is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.code = -signal.SIGKILL
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1
