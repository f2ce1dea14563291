#!/usr/bin/python3
"""Gets oneDNN 3.2, which is newer than Debian's, for `make ONEDNN=FOLDER`: headers and library from two packages of PyPI.

usage: get_onednn.py FOLDER

FOLDER gets include/ and lib/. It appears whole or not at all. The packages are kept in build/cache/downloads.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

from pypi import DOWNLOADS, fetch, replace_folder

PACKAGES = (
    (
        "onednn-devel-cpu-gomp",
        "2023.2.0",
        "onednn_devel_cpu_gomp-2023.2.0-py2.py3-none-manylinux1_x86_64.whl",
        "9763c69e8c907e119056bd52ad918ca84ac9ba939d130a99dfa95ccca3e5e284",
    ),
    (
        "onednn-cpu-gomp",
        "2023.2.0",
        "onednn_cpu_gomp-2023.2.0-py2.py3-none-manylinux1_x86_64.whl",
        "2f22a54d6a890ed14bfa185d42a4be65d8b5b1df85dc1f0f3a9abe31620416fb",
    ),
)


def unpack(wheel, folder):
    """What would be installed below a prefix. Of the three names of the library only the one that programs load is a file:
    a wheel has no links."""
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            _, found, inside = member.filename.partition(".data/data/")
            path = folder / inside
            if not found or member.is_dir() or path.name == "libdnnl.so.3.2":
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.name == "libdnnl.so":
                path.symlink_to("libdnnl.so.3")
            else:
                path.write_bytes(archive.read(member))


def get(target):
    DOWNLOADS.mkdir(parents=True, exist_ok=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    made = pathlib.Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        for package in PACKAGES:
            unpack(fetch(package, DOWNLOADS), made)
        made.chmod(0o755)
        replace_folder(made, target)
    finally:
        shutil.rmtree(made, ignore_errors=True)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__.split("\n\n")[1])
    try:
        get(pathlib.Path(sys.argv[1]).absolute())
    except subprocess.CalledProcessError:
        sys.exit("get_onednn: the download from PyPI failed: see pip's message above; try again with the network up")
