"""What all Python tests share: where the tree is, and where what was built lies."""
import os
import pathlib

import pytest

ROOT = pathlib.Path(__file__).parent.parent


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture(scope="session")
def build():
    """The folder with the libraries and programs, also those of a sanitizer's build."""
    return pathlib.Path(os.environ.get("BUILD", ROOT / "build"))
