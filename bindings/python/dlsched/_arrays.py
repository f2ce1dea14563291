"""numpy arrays to the library's tensors and back."""

import ctypes
import itertools

import numpy

from . import errors
from ._library import RELEASE, Tensor
from ._tables import DTYPES, TENSOR_RANK

_VALUE = {numpy.dtype(name): value for name, value, _ in DTYPES}
_DTYPE = {value: dtype for dtype, value in _VALUE.items()}

_lent = {}  # arrays that the library still reads, by the number it gives back when it is done
_numbers = itertools.count(1)


@RELEASE
def _release(number, _data):
    del _lent[number]


def as_array(name, thing, dtype=None):
    """A dense array in this machine's byte order, of a type that the library has. Copies only what it must."""
    if thing is None:  # numpy would take it for NaN
        raise errors.EINVAL(f"{name} is None, which is no array")
    try:
        array = numpy.asarray(thing, dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise errors.EINVAL(f"{name} is no array: {error}") from error
    array = numpy.asarray(array, dtype=array.dtype.newbyteorder("="), order="C")
    if array.dtype not in _VALUE:
        types = ", ".join(known for known, _, _ in DTYPES)
        raise errors.EINVAL(f"{name} has elements of type {array.dtype}, which cannot be sent: use one of {types}")
    if array.ndim > TENSOR_RANK:
        raise errors.EINVAL(f"{name} has {array.ndim} dimensions, which cannot be sent: {TENSOR_RANK} are the most")
    return array


def describe(array):
    """The tensor over an array from as_array; the caller keeps the array alive."""
    dims = (ctypes.c_int64 * TENSOR_RANK)(*array.shape)
    return Tensor(
        dtype=_VALUE[array.dtype], rank=array.ndim, dims=dims, data=array.ctypes.data, bytes=array.nbytes
    )


def lend(array):
    """The same, but the array stays alive until the library releases the tensor."""
    tensor = describe(array)
    number = next(_numbers)
    _lent[number] = array
    tensor.release, tensor.release_arg = _release, number
    return tensor


def to_array(tensor):
    """A copy of a tensor's values, which outlives it."""
    array = numpy.empty(tensor.dims[: tensor.rank], _DTYPE[tensor.dtype])
    ctypes.memmove(array.ctypes.data, tensor.data, array.nbytes)
    return array
