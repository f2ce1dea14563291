"""What all Python tests share: where the tree is, where what was built lies, and the model folders and pictures, which the
project's scripts make when they are not there yet."""
import os
import pathlib
import subprocess
import sys

import pytest
from engine import Engine
from programs import Programs

ROOT = pathlib.Path(__file__).parent.parent


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture(scope="session")
def build():
    """The folder with the libraries and programs, also those of a sanitizer's build."""
    return pathlib.Path(os.environ.get("BUILD", ROOT / "build"))


@pytest.fixture(scope="session")
def process(request):
    """One process with the library's engine for all tests; it begins with the first model that is loaded. Tests that
    give it a name of isa.of_machine() have one that is held down to that."""
    with Engine({"DLS_ISA": request.param} if hasattr(request, "param") else None) as engine:
        yield engine


@pytest.fixture
def programs(build, tmp_path):
    programs = Programs(build, tmp_path)
    yield programs
    programs.stop()


@pytest.fixture
def pseudo_terminals():
    """For tests that open one: a bare chroot has none."""
    try:
        for end in os.openpty():
            os.close(end)
    except OSError as error:
        pytest.skip(f"no pseudo-terminals: {error}")


def made_by(script, folder):
    if not folder.is_dir():
        subprocess.run([ROOT / "scripts" / script, folder], check=True)
    return folder


@pytest.fixture(scope="session")
def lite0():
    return made_by("make_lite0.py", ROOT / "build/cache/models/efficientnet-lite0")


@pytest.fixture(scope="session")
def networks():
    """The folder of the seeded networks of the ONNX model zoo."""
    folder = ROOT / "build/cache/models"
    subprocess.run([sys.executable, ROOT / "scripts/make_networks.py", folder], check=True)
    return folder


@pytest.fixture(scope="session")
def photos():
    return made_by("get_photos.sh", ROOT / "build/cache/photos")


@pytest.fixture(scope="session")
def fashion_pictures():
    return made_by("get_fashion.sh", ROOT / "build/cache/fashion")
