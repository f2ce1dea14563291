"""Starts the programs of this tree and waits for what they do. Every wait has a limit, and nothing outlives its test."""

import json
import os
import signal
import subprocess
import time
from dataclasses import dataclass

LIMIT_SECONDS = 30
END_SECONDS = 10
TICK_SECONDS = 0.01


def wait_until(condition, what, seconds=LIMIT_SECONDS):
    """Waits until condition() is true and returns what it gave."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, f"waited {seconds} s for {what}"
        time.sleep(TICK_SECONDS)
    return found


@dataclass
class Ended:
    """A program that has ended."""

    code: int
    out: str
    err: str
    seconds: float

    def objects(self):
        """The JSON objects that it wrote, one a line."""
        return [json.loads(line) for line in self.out.splitlines()]

    def items(self):
        return [line for line in self.objects() if "item" in line]

    def summary(self):
        return self.objects()[-1]["summary"]


class Program:
    """A program that runs, with its outputs in files."""

    def __init__(self, words, folder, environment, stdin=subprocess.DEVNULL, err=None):
        """`err` is the descriptor that standard error goes to, in place of a file."""
        self.words = [str(word) for word in words]
        self.out_path, self.err_path = folder / "out", folder / "err"
        self.killed = False
        self.begin = time.monotonic()
        with open(self.out_path, "wb") as out, open(self.err_path, "wb") as err_file:
            self.process = subprocess.Popen(
                self.words, stdin=stdin, stdout=out, stderr=err_file if err is None else err, env=environment, start_new_session=True
            )

    def out(self):
        return self.out_path.read_bytes().decode(errors="surrogateescape")

    def err(self):
        return self.err_path.read_bytes().decode(errors="surrogateescape")

    def wait_for(self, text):
        """Waits until it has written the text to standard output."""
        wait_until(lambda: text in self.out() or self.process.poll() is not None, f"{text!r} from {self.words}")
        assert text in self.out(), f"{self.words} ended with {self.process.returncode}: {self.err()}"
        return self

    def wait_until_said(self, text):
        """Waits until it has written the text to standard error."""
        wait_until(lambda: text in self.err() or self.process.poll() is not None, f"{text!r} from {self.words}")
        assert text in self.err(), f"{self.words} ended with {self.process.returncode}: {self.err()}"

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        """As when the machine dies."""
        self.killed = True
        self.process.kill()
        self.process.wait()

    def finish(self, seconds=LIMIT_SECONDS):
        """Waits for its end."""
        try:
            code = self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"{self.words} did not end within {seconds} s: {self.out()}{self.err()}") from None
        return Ended(code, self.out(), self.err(), time.monotonic() - self.begin)

    def stop(self):
        """Asks it to end; it must do so cleanly and soon."""
        self.signal(signal.SIGTERM)
        return self.finish(END_SECONDS)


class Master(Program):
    def __init__(self, words, folder, environment, **streams):
        self.endpoint_file = folder / "endpoint"
        super().__init__([*words, "--endpoint-file", self.endpoint_file], folder, environment, **streams)
        self.wait_for("listens at")
        wait_until(self.endpoint_file.exists, "the endpoint file")
        self.endpoint = self.endpoint_file.read_text().strip()

    def port(self):
        return int(self.endpoint.rsplit(":", 1)[1])


class Programs:
    """All that one test starts. Between them they have one cache of models and two threads."""

    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        self.running = []
        self.count = 0
        self.environment = {
            **os.environ,
            "XDG_CACHE_HOME": str(folder / "cache"),
            "OMP_NUM_THREADS": "1",
        }

    def start(self, name, *words, kind=Program, stdin=subprocess.DEVNULL, err=None, **environment):
        self.count += 1
        folder = self.folder / f"{self.count}.{os.path.basename(name)}"
        folder.mkdir()
        program = kind([self.build / name, *words], folder, {**self.environment, **environment}, stdin=stdin, err=err)
        self.running.append(program)
        return program

    def run(self, name, *words, limit=LIMIT_SECONDS, **environment):
        return self.start(name, *words, **environment).finish(limit)

    def master(self, *words, bind="tcp://127.0.0.1:0", err=None):
        return self.start("dls-master", "--bind", bind, *words, kind=Master, err=err)

    def worker(self, master, name, *words):
        worker = self.start("dls-worker", "--master", master.endpoint, "--name", name, *words)
        return worker.wait_for("works for")

    def handler(self, master, name, *labels):
        """A worker with the handlers of handler_tool; its journal is that of all of them."""
        tool = self.start("test/cli/handler_tool", master.endpoint, name, self.folder / "journal", *labels)
        return tool.wait_for("ready")

    def journal(self):
        """(worker, item) for every item that a handler began."""
        path = self.folder / "journal"
        lines = path.read_text().splitlines() if path.exists() else []
        return [(line.split()[0], int(line.split()[1])) for line in lines]

    def submit(self, master, *words, limit=LIMIT_SECONDS):
        return self.start("dls-submit", "--master", master.endpoint, *words).finish(limit)

    def local(self, *words, limit=LIMIT_SECONDS):
        return self.run("dls-submit", "run", "--local", *words, limit=limit)

    def stop(self):
        """Ends what still runs, the last one first. One that does not end by itself fails the test."""
        late = []
        for program in reversed(self.running):
            if program.process.poll() is not None:
                continue
            program.signal(signal.SIGTERM)
            try:
                program.process.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                late.append(program.words)
                program.kill()
        assert not late, f"did not end at SIGTERM: {late}"
        bad = [
            (program.words, program.process.returncode, program.err())
            for program in self.running
            if not program.killed and (program.process.returncode < 0 or "Sanitizer" in program.err())
        ]
        assert not bad
