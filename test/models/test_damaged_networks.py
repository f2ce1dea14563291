"""Files of whole networks that are cut off or have a bit turned: each is refused in one sentence or is a network still, and
nothing crashes."""

import numpy
import pytest
from engine import Refused
from test_networks import SEEDED

TRIALS = 200
FLIPS = 40  # most of them leave a network that is read and rewritten whole
ENDS = 4000  # bytes at either end of a file, where there is structure and not weights


@pytest.fixture(params=SEEDED)
def size(process, networks, request):
    """Of the file of a network, which is loaded."""
    path = networks / request.param / "model.onnx"
    process.load(path)
    return path.stat().st_size


def sentence(refused):
    text = str(refused)
    assert text and len(text) < 512 and text.isprintable(), text
    return text


def test_cut_off(process, size):
    rng = numpy.random.default_rng(1)
    for length in (*range(8), *rng.integers(0, size - ENDS, TRIALS), *rng.integers(size - ENDS, size - 10, TRIALS)):
        with pytest.raises(Refused) as refused:
            process.damage(length)
        assert any(words in sentence(refused.value) for words in ("not a whole ONNX file", "empty", "no graph"))


def test_turned_bits(process, size):
    rng, refusals = numpy.random.default_rng(2), 0
    for place, bit in zip(rng.integers(-ENDS, ENDS, FLIPS), rng.integers(0, 8, FLIPS)):
        try:
            process.damage(size, place % size, bit)
        except Refused as refused:
            refusals += bool(sentence(refused))
    assert refusals > FLIPS // 10
