"""A model that runs in this process, without any cluster."""

import collections
import ctypes
import json

import numpy

from . import _options as options
from . import errors
from ._arrays import as_array, describe, to_array
from ._handle import Context, Handle
from ._library import Tensor, call, lib

Port = collections.namedtuple("Port", "name dtype dims kind")
Port.__doc__ = """An input or output of a model. `dims` is a tuple, with None for a dimension that the file leaves open; of an
output whose shape only a run tells `dims` is None, and `dtype` too unless the file says it;
`kind` is "tensor", of an input "image" and of an output "classes" where model.json says so."""


def _port(found):
    dims = found["dims"]
    return Port(found["name"], found.get("dtype"), None if dims is None else tuple(dims), found["kind"])


def _tensors(arrays):
    """At least one, for the library counts them first; the caller keeps the arrays alive."""
    return (Tensor * max(1, len(arrays)))(*map(describe, arrays))


class Model(Handle):
    """A model folder, or an ONNX file, opened and checked.

    `inputs` and `outputs` are Ports, `labels` the names of the classes, empty without labels.txt. `batchable` says whether
    items may be run together, and `unbatchable` why not (None if they may). Where the file leaves more sizes open than the
    batch, which each run brings then, `batchable` is None: only a run tells.

    Any number of threads may run one model; their runs take turns. Python goes on meanwhile, but for the thread that
    waits, which Ctrl-C does not interrupt. A run has `threads` threads; zero means as many as OMP_NUM_THREADS said when Python
    started, else as many as there are processors for this process.
    """

    def __init__(self, path, *, threads=0):
        encoded = options.needed_path("path", path)
        self._context = Context(threads)
        super().__init__(self._context.create(lib.dls_model_open, encoded))
        found = self._json(lib.dls_model_describe)
        self.inputs = [_port(port) for port in found["inputs"]]
        self.outputs = [_port(port) for port in found["outputs"]]
        self.batchable = found.get("batchable")
        self.unbatchable = found.get("unbatchable")
        self.labels = self._labels()

    def _labels(self):
        labels = []
        while (label := lib.dls_model_label(self._pointer, len(labels))) is not None:
            labels.append(label.decode())
        return labels

    def _json(self, function, *arguments):
        text = ctypes.c_char_p()
        self._call(function, *arguments, text)
        try:
            return json.loads(text.value)
        finally:
            lib.dls_free(self._context.pointer, text)

    @staticmethod
    def _array(name, thing, port):
        """What has a type keeps it; a list takes that of the input."""
        try:
            typed = hasattr(thing, "dtype") or memoryview(thing) is not None
        except TypeError:
            typed = False
        return as_array(name, thing, None if typed else port.dtype)

    def _in_order(self, arrays):
        """An array per input, from a list of them or by their names."""
        if isinstance(arrays, dict):
            names = [port.name for port in self.inputs]
            if set(arrays) != set(names):
                raise errors.EINVAL(f"the model's inputs are {', '.join(names)}, not {', '.join(map(str, arrays))}")
            return [self._array(f"arrays[{port.name!r}]", arrays[port.name], port) for port in self.inputs]
        if not isinstance(arrays, (list, tuple)):
            raise options.wrong_type("arrays", "a list of arrays, or a dict of them", arrays)
        ports = self.inputs + self.inputs[-1:] * (len(arrays) - len(self.inputs))  # the library counts them
        return [self._array(f"arrays[{i}]", array, port) for i, (array, port) in enumerate(zip(arrays, ports))]

    def run(self, arrays):
        """The outputs, as a list of arrays, of one run on these inputs: a list with an array per input, or a dict by their
        names. Arrays are what numpy takes for one: lists of numbers and buffers too. They are run as they are, whatever
        model.json says, and have the batch as their first dimension."""
        arrays = self._in_order(arrays)
        outputs, count = ctypes.POINTER(Tensor)(), ctypes.c_uint32()
        with self._use() as pointer:
            call(lib.dls_model_run, pointer, _tensors(arrays), len(arrays), outputs, count)
            try:
                return [to_array(outputs[i]) for i in range(count.value)]
            finally:
                lib.dls_free(self._context.pointer, outputs)

    def __call__(self, *arrays):
        """The only output, or a tuple of all, of a run on an array per input."""
        outputs = self.run(arrays)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def read(self, *paths, input=0):
        """An array that run() takes for the input of this number: photos prepared as model.json says, and .npy and .pb
        files, one behind the other."""
        encoded = [options.needed_path(f"paths[{number}]", path) for number, path in enumerate(paths)]
        encoded = (ctypes.c_char_p * max(1, len(paths)))(*encoded)
        input = options.whole("input", input, 0, options.UINT32)
        tensor = ctypes.POINTER(Tensor)()
        with self._use() as pointer:
            call(lib.dls_model_read, pointer, input, encoded, len(paths), tensor)
            try:
                return to_array(tensor.contents)
            finally:
                lib.dls_free(self._context.pointer, tensor)

    def profile(self, arrays=None, batch=1, runs=20):
        """How long each node takes, on these inputs (as for run) or on made-up ones of `batch` items: a dict, as
        dls_model_profile describes it."""
        batch = options.whole("batch", batch, 0, options.INT64)
        runs = options.whole("runs", runs, 0, options.UINT32)
        if arrays is None:
            return self._json(lib.dls_model_profile, None, 0, batch, runs)
        arrays = self._in_order(arrays)
        return self._json(lib.dls_model_profile, _tensors(arrays), len(arrays), 0, runs)

    def _destroy(self, pointer):
        lib.dls_model_destroy(pointer)
        self._context.destroy()
