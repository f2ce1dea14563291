"""The reader of PyTorch weights: strides, and files that are cut, lie, or want more than weights need."""

import collections
import io
import os
import pickle
import struct
import sys

import numpy
import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
import torch_weights  # noqa: E402


class Named:
    """Pickles as a call of `module.name` or, without arguments, as that name itself."""

    def __init__(self, module, name, *arguments):
        self.target, self.arguments = (module, name), arguments


class Pickler(pickle._Pickler):
    """The Python pickler, taught to write names that this process cannot import, and storages by reference."""

    def save(self, thing, save_persistent_id=True):
        if not isinstance(thing, Named):
            return super().save(thing, save_persistent_id)
        self.write(b"c" + "\n".join(thing.target).encode() + b"\n")
        if thing.arguments:
            super().save(thing.arguments)
            self.write(b"R")

    def persistent_id(self, thing):
        return thing.pid if isinstance(thing, Stored) else None


class Stored:
    def __init__(self, key, count, kind="FloatStorage"):
        self.pid = ("storage", Named("torch", kind), key, "cpu", count, None)


def pickled(thing):
    stream = io.BytesIO()
    Pickler(stream, protocol=2).dump(thing)
    return stream.getvalue()


def tensor(stored, offset, shape, strides):
    return Named("torch._utils", "_rebuild_tensor_v2", stored, offset, shape, strides, False, collections.OrderedDict())


def weights_file(state, values):
    head = [torch_weights.MAGIC, torch_weights.VERSION, {"little_endian": True}, state, list(values)]
    body = [struct.pack("<q", len(array)) + array.tobytes() for array in values.values()]
    return b"".join(pickled(part) for part in head) + b"".join(body)


VALUES = numpy.arange(6, dtype="<f4")


def test_strides_and_offsets_are_respected():
    stored = Stored("1", 6)
    data = weights_file(
        {
            "plain": tensor(stored, 0, (2, 3), (3, 1)),
            "transposed": tensor(stored, 0, (3, 2), (1, 3)),
            "tail": tensor(stored, 4, (2,), (1,)),
            "scalar": tensor(stored, 5, (), ()),
        },
        {"1": VALUES},
    )
    state = torch_weights.read(data)
    assert list(state) == ["plain", "transposed", "tail", "scalar"]
    assert state["plain"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert state["transposed"].tolist() == [[0, 3], [1, 4], [2, 5]]
    assert state["tail"].tolist() == [4, 5]
    assert state["scalar"].shape == () and state["scalar"] == 5


def test_every_cut_is_refused():
    data = weights_file({"w": tensor(Stored("1", 6), 0, (6,), (1,))}, {"1": VALUES})
    for length in range(len(data)):
        with pytest.raises(torch_weights.FormatError):
            torch_weights.read(data[:length])


@pytest.mark.parametrize(
    "offset, shape, strides", [(0, (7,), (1,)), (1, (6,), (1,)), (5, (2,), (-1,)), (0, (2, 2), (1, 5)), (-1, (2,), (1,))]
)
def test_tensor_beyond_its_storage_is_refused(offset, shape, strides):
    data = weights_file({"w": tensor(Stored("1", 6), offset, shape, strides)}, {"1": VALUES})
    with pytest.raises(torch_weights.FormatError, match="beyond its storage 1"):
        torch_weights.read(data)


def test_wrong_count_is_refused():
    data = weights_file({"w": tensor(Stored("1", 7), 0, (6,), (1,))}, {"1": VALUES})
    with pytest.raises(torch_weights.FormatError, match="announces 7 values and holds 6"):
        torch_weights.read(data)


def test_a_call_is_refused_and_not_made(tmp_path):
    mark = tmp_path / "called"
    data = weights_file({"w": Named(os.mkdir.__module__, "mkdir", str(mark))}, {"1": VALUES})
    with pytest.raises(torch_weights.FormatError, match="posix.mkdir"):
        torch_weights.read(data)
    assert not mark.exists()
