"""The package from the tree, on the library just built, and how tests of it wait."""

import os
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("BUILD", ROOT / "build"))
PACKAGE = ROOT / "bindings/python"
SECONDS = 20  # the longest that a test waits for what must come

os.environ.setdefault("DLSCHED_LIBRARY", str(BUILD / "libdlsched.so"))
os.environ["PYTHONPATH"] = str(PACKAGE)  # for the programs that tests start
sys.path.insert(0, str(PACKAGE))


def wait_until(condition):
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, "what the test waits for has not come"
        time.sleep(0.01)
