"""Reads the weights out of a PyTorch file in the old pickle format, without PyTorch and without running what the file says.

The file is five pickles (magic number, protocol version, system, the state dict, the list of storage keys) and then, for
each key, an int64 count and that many little-endian values. The pickles may name four things only; anything else is refused.
"""

import collections
import io
import pickle

import numpy

MAGIC = 0x1950A86A20F9469CFC6C
VERSION = 1001
STORAGES = {"FloatStorage": "<f4", "LongStorage": "<i8"}

Storage = collections.namedtuple("Storage", "key dtype count")
Tensor = collections.namedtuple("Tensor", "storage offset shape strides")


class FormatError(Exception):
    """The file is not what it should be; the text says in what."""


def rebuild_tensor(storage, offset, shape, strides, requires_grad, hooks):
    """What the pickles call `torch._utils._rebuild_tensor_v2`: its values follow only after the last pickle."""
    return Tensor(storage, offset, tuple(shape), tuple(strides))


class Unpickler(pickle.Unpickler):
    def find_class(self, module, name):
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return rebuild_tensor
        if module == "torch" and name in STORAGES:
            return numpy.dtype(STORAGES[name])
        raise FormatError(f"the pickle names {module}.{name}, which weights have no use for")

    def persistent_load(self, pid):
        kind, dtype, key, _place, count, _view = pid
        if kind != "storage" or not isinstance(dtype, numpy.dtype):
            raise FormatError(f"the pickle refers to a {kind!r}, not to a storage")
        return Storage(key, dtype, count)


def read_values(stream, storage):
    """The values of one storage, which stand at the stream's position behind their count."""
    count = int.from_bytes(stream.read(8), "little")
    if count != storage.count:
        raise FormatError(f"storage {storage.key} announces {storage.count} values and holds {count}")
    data = stream.read(count * storage.dtype.itemsize)
    if len(data) != count * storage.dtype.itemsize:
        raise FormatError(f"the file ends inside storage {storage.key}")
    return numpy.frombuffer(data, storage.dtype)


def to_array(tensor, values):
    """The tensor as a dense array. Strides matter: PyTorch writes transposed weights as they lie in memory."""
    last = tensor.offset + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.strides))
    if min(tensor.shape + tensor.strides + (tensor.offset, 0)) < 0 or last >= len(values):
        raise FormatError(f"a tensor of shape {tensor.shape} reaches beyond its storage {tensor.storage.key}")
    strides = [stride * values.itemsize for stride in tensor.strides]
    view = numpy.lib.stride_tricks.as_strided(values[tensor.offset :], tensor.shape, strides, writeable=False)
    return numpy.ascontiguousarray(view).reshape(tensor.shape)


def read(data):
    """The state dict in the bytes `data`: a dict from parameter name to numpy array, in the file's order."""
    stream = io.BytesIO(data)
    try:
        magic, version, system, state, keys = (Unpickler(stream).load() for _ in range(5))
    except (pickle.UnpicklingError, EOFError, TypeError, ValueError) as error:
        raise FormatError(f"not a PyTorch file in the old format: {error}") from error
    if (magic, version, system.get("little_endian")) != (MAGIC, VERSION, True):
        raise FormatError("not a little-endian PyTorch file in the old format, version 1001")
    storages = {tensor.storage.key: tensor.storage for tensor in state.values()}
    if sorted(keys) != sorted(storages):
        raise FormatError("the storages in the file are not those that its tensors name")
    values = {key: read_values(stream, storages[key]) for key in keys}
    return {name: to_array(tensor, values[tensor.storage.key]) for name, tensor in state.items()}
