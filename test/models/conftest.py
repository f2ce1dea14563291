"""The model folders and pictures that the tests share; made by the project's scripts when they are not there yet."""

import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def made_by(script, folder):
    if not folder.is_dir():
        subprocess.run([ROOT / "scripts" / script, folder], check=True)
    return folder


@pytest.fixture(scope="session")
def lite0():
    return made_by("make_lite0.py", ROOT / "build/cache/models/efficientnet-lite0")


@pytest.fixture(scope="session")
def photos():
    return made_by("get_photos.sh", ROOT / "build/cache/photos")


@pytest.fixture(scope="session")
def fashion_pictures():
    return made_by("get_fashion.sh", ROOT / "build/cache/fashion")
