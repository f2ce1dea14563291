"""The inside of media/ for Python: a small program of the library's own, spoken to over its standard input."""

import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Refused(Exception):
    """The library's error: its code's name and its sentence."""

    def __init__(self, code, sentence):
        super().__init__(f"{code}: {sentence}")
        self.code = code
        self.sentence = sentence


class Tool:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def close(self):
        self.process.stdin.close()
        status = self.process.wait(timeout=10)
        self.process.stdout.close()
        return status

    def call(self, *words, data=b""):
        """Returns the words and the bytes of the answer."""
        line = " ".join(str(word) for word in (*words, len(data)))
        self.process.stdin.write(line.encode() + b"\n" + data)
        self.process.stdin.flush()
        answer = self.process.stdout.readline().decode().rstrip("\n")
        assert answer, f"the tool died at: {line}"
        if answer.startswith("error "):
            raise Refused(*answer.split(" ", 2)[1:])
        words = answer.split()[1:]
        return words[1:], self.process.stdout.read(int(words[0]))


@pytest.fixture(scope="session")
def tool():
    build = pathlib.Path(os.environ.get("BUILD", ROOT / "build"))
    tool = Tool(build / "test/media/media_tool")
    yield tool
    assert tool.close() == 0
