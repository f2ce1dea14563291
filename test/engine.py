"""The library's engine for Python: ONNX models on numpy arrays, through test/graph/model_tool.c, which runs beside it."""

import os
import pathlib
import subprocess
import tempfile

import numpy

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOL = pathlib.Path(os.environ.get("BUILD", ROOT / "build")) / "test/graph/model_tool"
TYPES = {"float32", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool"}
RANK_MOST = 8
FAILURES = ("-2", "-3")  # DLS_ENOMEM, DLS_EIO


class Refused(Exception):
    """The sentence with which the library refused a model or a run."""


class Failed(Exception):
    """The program ended in the middle of a command, or a run failed though model and inputs are accepted."""


class Engine:
    """One process that keeps one model at a time. After a crash the next `load` begins a new one."""

    def __init__(self, environment=None):
        self.environment = os.environ | (environment or {})
        self.errors = tempfile.TemporaryFile()
        self.process = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process:
            self.process.communicate()
            assert self.process.returncode == 0, self.said()
        self.errors.close()

    def said(self):
        """The end of what the program wrote for people: a sanitizer's report."""
        self.errors.seek(0)
        return self.errors.read()[-4000:].decode(errors="replace")

    def start(self):
        self.process = subprocess.Popen([TOOL], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
                                        env=self.environment)

    def crash(self):
        status = self.process.wait()
        self.process = None
        raise Failed(f"the engine ended with status {status}: {self.said()}")

    def line(self):
        text = self.process.stdout.readline().decode()
        if not text.endswith("\n"):
            self.crash()
        return text[:-1]

    def send(self, command, arrays=()):
        try:
            self.process.stdin.write(command.encode() + b"\n")
            for array in arrays:
                self.process.stdin.write(" ".join(map(str, (array.dtype.name, *array.shape))).encode() + b"\n")
                self.process.stdin.write(numpy.ascontiguousarray(array).data)
            self.process.stdin.flush()
        except BrokenPipeError:
            self.crash()

    def answer(self):
        """The numbers of the answer to a command."""
        kind, *words = self.line().split(" ", 2)
        if kind == "error":
            raise (Failed if words[0] in FAILURES else Refused)(words[1])
        return [int(word) for word in " ".join(words).split()]

    def ask(self, command, arrays=()):
        self.send(command, arrays)
        return self.answer()

    def load(self, path):
        """Returns the seconds that it took. Sets inputs, outputs (type, dims, name of each) and unbatchable."""
        if not self.process:
            self.start()
        nanoseconds, inputs, outputs = self.ask(f"load {path}")
        ports = [self.port() for _ in range(inputs + outputs)]
        self.inputs, self.outputs = ports[:inputs], ports[inputs:]
        self.unbatchable = self.line()
        return nanoseconds / 1e9

    def port(self):
        shape, name = self.line().split("\t", 1)
        dtype, *dims = shape.split(" ")
        return dtype, tuple(map(int, dims)), name

    def run(self, arrays, batch=1):
        """Returns the seconds that it took and the outputs."""
        for array in arrays:
            if array.dtype.name not in TYPES or array.ndim > RANK_MOST:
                raise Refused(f"the library has no tensors of {array.dtype.name} and rank {array.ndim}")
        nanoseconds, count = self.ask(f"run {batch} {len(arrays)}", arrays)
        return nanoseconds / 1e9, [self.tensor() for _ in range(count)]

    def tensor(self):
        dtype, *dims = self.line().split(" ")
        array = numpy.empty(tuple(map(int, dims)), dtype)
        if self.process.stdout.readinto(array.reshape(-1).view(numpy.uint8)) != array.nbytes:
            self.crash()
        return array

    def damage(self, length, at=-1, bit=0):
        """Reads the first bytes of the loaded model's file once more, with a bit turned. Raises Refused, or not."""
        self.ask(f"damage {length} {at} {bit}")

    def begin_time(self, batch, milliseconds):
        """Begins to repeat the last run for so long."""
        self.send(f"time {batch} {milliseconds}")

    def end_time(self):
        """Returns how often it was repeated, and the seconds of all."""
        runs, nanoseconds = self.answer()
        return runs, nanoseconds / 1e9
