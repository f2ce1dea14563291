"""What `make install` puts down is enough: programs in C and C++ compile against it through pkg-config, and run."""
import os
import re
import subprocess

import pytest

PROGRAM = r"""
#include <dlsched/dlsched.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
	struct dls_tensor tensor = DLS_TENSOR_INIT;
	size_t bytes = 0;
	int64_t dims[2] = {3, 5};

	if (tensor.size != sizeof tensor || dls_tensor_bytes(DLS_FLOAT32, 2, dims, &bytes) || bytes != 60)
		return 1;
	return strcmp(dls_error_name(DLS_ELIMIT), "DLS_ELIMIT") != 0;
}
"""


def make(root, *words):
    """The variables of an outer make are kept (its compiler, its build folder), its job server is not."""
    flags = re.sub(r"(^|\s)(-j\d*|--jobserver-\S+)", " ", os.environ.get("MAKEFLAGS", ""))
    subprocess.run(["make", *words], cwd=root, env={**os.environ, "MAKEFLAGS": flags}, check=True, timeout=600)


@pytest.fixture(scope="module")
def prefix(root, build, tmp_path_factory):
    folder = tmp_path_factory.mktemp("installed") / "usr"
    make(root, "install", f"PREFIX={folder}", f"BUILD={build.relative_to(root)}")
    return folder


def pkg_config(prefix, *words):
    environment = {**os.environ, "PKG_CONFIG_PATH": f"{prefix}/lib/pkgconfig"}
    done = subprocess.run(["pkg-config", *words, "dlsched"], env=environment, check=True, timeout=60,
                          capture_output=True, text=True)
    return done.stdout.split()


def compile_and_run(folder, compiler, suffix, flags, environment=None):
    source, program = folder / f"program{suffix}", folder / "program"
    source.write_text(PROGRAM)
    subprocess.run([*compiler, "-Wall", "-Werror", source, "-o", program, *flags], check=True, timeout=60)
    subprocess.run([program], check=True, timeout=60, env={**os.environ, **(environment or {})})
    needed = subprocess.run(["readelf", "-d", program], check=True, timeout=60, capture_output=True, text=True)
    return needed.stdout


@pytest.mark.parametrize("compiler, suffix", [(["gcc", "-std=c11"], ".c"), (["clang", "-std=c11"], ".c"),
                                              (["g++", "-std=c++17"], ".cc"), (["clang++", "-std=c++17"], ".cc")],
                         ids=lambda value: value[0] if isinstance(value, list) else "")
def test_shared(prefix, tmp_path, compiler, suffix):
    flags = pkg_config(prefix, "--cflags", "--libs")
    needed = compile_and_run(tmp_path, compiler, suffix, flags, {"LD_LIBRARY_PATH": f"{prefix}/lib"})
    assert "[libdlsched.so.0.1]" in needed


@pytest.mark.parametrize("compiler, suffix", [(["gcc", "-std=c11"], ".c"), (["g++", "-std=c++17"], ".cc")],
                         ids=lambda value: value[0] if isinstance(value, list) else "")
def test_static(prefix, tmp_path, compiler, suffix):
    flags = pkg_config(prefix, "--cflags", "--static", "--libs")
    archive = [f"{prefix}/lib/libdlsched.a" if flag == "-ldlsched" else flag for flag in flags]
    assert "libdlsched" not in compile_and_run(tmp_path, compiler, suffix, archive)


def test_version_is_that_of_the_header(root, prefix):
    header = (root / "include/dlsched/version.h").read_text()
    version = ".".join(re.search(rf"DLS_VERSION_{part} (\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH"))
    assert pkg_config(prefix, "--modversion") == [version]
    assert (prefix / f"lib/libdlsched.so.{version}").is_file()


def test_all_public_headers_are_there(root, prefix):
    names = {path.name for path in (root / "include/dlsched").iterdir()}
    assert {path.name for path in (prefix / "include/dlsched").iterdir()} == names


def run_installed(prefix):
    for program in ("dls-master", "dls-worker", "dls-submit"):
        subprocess.run([prefix / "bin" / program, "--version"], check=True, timeout=60, capture_output=True)


def test_programs_find_the_library_wherever_it_is_installed(root, build, tmp_path):
    """Also when the tree has moved: nothing but the way from one folder to the other is written into them."""
    words = [f"PREFIX={tmp_path}/opt", f"LIBDIR={tmp_path}/opt/lib/some-multiarch", f"BUILD={build.relative_to(root)}"]
    make(root, "install", *words)
    run_installed(tmp_path / "opt")
    (tmp_path / "opt").rename(tmp_path / "moved")
    run_installed(tmp_path / "moved")
    make(root, "all", f"BUILD={build.relative_to(root)}")


def files_under(folder):
    return sorted(path for path in folder.rglob("*") if not path.is_dir())


def test_uninstall_removes_what_install_has_put_there(root, build, tmp_path):
    words = [f"PREFIX={tmp_path}", f"LIBDIR={tmp_path}/lib64", f"BUILD={build.relative_to(root)}"]
    make(root, "uninstall", *words)
    make(root, "install", *words)
    (tmp_path / "bin/of-somebody-else").touch()
    assert len(files_under(tmp_path)) > 10
    make(root, "uninstall", *words)
    assert files_under(tmp_path) == [tmp_path / "bin/of-somebody-else"]
    assert not (tmp_path / "include/dlsched").exists()
    make(root, "all", f"BUILD={build.relative_to(root)}")


def test_destdir_only_moves_the_files(root, build, tmp_path):
    make(root, "install", "PREFIX=/opt/dls", "LIBDIR=/opt/dls/lib64", f"DESTDIR={tmp_path}",
         f"BUILD={build.relative_to(root)}")
    text = (tmp_path / "opt/dls/lib64/pkgconfig/dlsched.pc").read_text()
    assert "prefix=/opt/dls\n" in text
    assert "libdir=${prefix}/lib64\n" in text
    assert str(tmp_path) not in text
    assert (tmp_path / "opt/dls/lib64/libdlsched.so").resolve().is_file()
