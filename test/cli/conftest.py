"""The fixtures of the whole-program tests."""

import pytest


@pytest.fixture
def fashion(root):
    """The folder of the small clothing model."""
    return root / "examples/fashion"


@pytest.fixture
def numbers(tmp_path):
    """Files for handlers that look at nothing but the number of the item."""

    def make(count):
        paths = []
        for number in range(count):
            paths.append(tmp_path / f"{number}.txt")
            paths[-1].write_text(f"{number}\n")
        return paths

    return make
