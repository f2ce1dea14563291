"""Everything compiles against a newer oneDNN than the system's too, and gives the same answers with it."""

import os
import platform
import subprocess
import sys

import pytest
from test_install import make

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="PyPI has oneDNN for x86-64 only")

BUILD = "build/onednn3"
ENGINE = "device inference model model_local test/graph"
NETWORKS = "every_instruction_set and not generic and not alexnet"  # those that take the most time


@pytest.fixture(scope="module")
def built(root):
    """Names the folder with what is built against it and has passed the tests of the engine."""
    folder = root / "build/cache/onednn-3.2"
    if not folder.is_dir():
        subprocess.run([root / "scripts/get_onednn.py", folder], check=True)
    make(root, "tests", f"BUILD={BUILD}", f"ONEDNN={folder}", "WERROR=-Werror", "DEPS=0", f"T={ENGINE}")
    return root / BUILD


def test_it_is_the_newer_one(built):
    needed = subprocess.run(["readelf", "-d", built / "libdlsched.so"], check=True, capture_output=True, text=True).stdout
    assert "libdnnl.so.3" in needed and "libdnnl.so.2" not in needed


def test_networks(root, built):
    subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", NETWORKS,
                    root / "test/models/test_networks.py"], env=os.environ | {"BUILD": str(built)}, check=True, timeout=300)
