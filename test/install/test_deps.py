"""scripts/deps.sh, with an apt-get and a dpkg-query that only say what they are asked."""
import os
import subprocess

import pytest

APT = r"""#!/bin/sh
echo "apt-get $*" >>"$CALLS"
case $1 in
install)
	for percent in 0.0 3.5 12.0 19.9; do echo "dlstatus:1:$percent:Retrieving file"; done
	echo "Selecting previously unselected package"
	echo "pmstatus:gcc:50.0:Unpacking"
	exit "$INSTALL_STATUS"
esac
"""
TOOLS = {"apt-get": APT, "id": "#!/bin/sh\necho 0\n", "dpkg-query": '#!/bin/sh\nprintf %s "$INSTALLED"\n'}


@pytest.fixture
def deps(root, tmp_path):
    for name, text in TOOLS.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    calls = tmp_path / "calls"
    calls.touch()

    def run(installed="", install_status=0):
        path = f"{tmp_path}:{os.environ['PATH']}"
        more = {"PATH": path, "CALLS": str(calls), "INSTALLED": installed, "INSTALL_STATUS": str(install_status)}
        done = subprocess.run([root / "scripts/deps.sh"], env={**os.environ, **more}, capture_output=True, text=True)
        return done, calls.read_text().splitlines()

    return run


def test_what_is_installed_is_left_alone_in_silence(deps):
    done, calls = deps(installed="installed")
    assert (done.returncode, done.stdout, done.stderr, calls) == (0, "", "", [])


def test_progress_is_shown_in_tenths(deps):
    done, calls = deps()
    assert done.returncode == 0
    first, *lines = done.stdout.splitlines()
    assert first.startswith("Installing missing Debian packages: ")
    steps = ["fetching the lists of packages", "downloaded 0 %", "downloaded 10 %", "installed 50 %"]
    assert [line.strip() for line in lines] == steps
    assert calls[0] == "apt-get update -qq" and calls[1].startswith("apt-get install ")


def test_an_installation_that_fails_is_a_failure(deps):
    done, _ = deps(install_status=100)
    assert done.returncode == 100
