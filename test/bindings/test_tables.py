"""The bindings say what the headers say: tables, the layout of structs, the functions."""

import ctypes
import re
import subprocess

import dlsched
import pytest
from common import PACKAGE, ROOT
from dlsched import _library, _tables, errors

HEADERS = sorted((ROOT / "include/dlsched").glob("*.h"))
STRUCTS = {
    "dls_error": errors.ErrorStruct,
    "dls_tensor": _library.Tensor,
    "dls_client_options": _library.ClientOptions,
    "dls_job_options": _library.JobOptions,
    "dls_retry": _library.Retry,
    "dls_job_progress": _library.JobProgress,
    "dls_jobs_options": _library.JobsOptions,
    "dls_tenant_options": _library.TenantOptions,
    "dls_resource": _library.Resource,
    "dls_master_options": _library.MasterOptions,
    "dls_output": _library.Output,
    "dls_result": _library.Result,
    "dls_worker_options": _library.WorkerOptions,
    "dls_ctx_options": _library.ContextOptions,
    "dls_handler_ops": _library.HandlerOps,
}


def test_tables_are_those_of_the_headers():
    made = subprocess.run([ROOT / "scripts/make_python_tables.py"], check=True, capture_output=True, text=True).stdout
    assert made == (PACKAGE / "dlsched/_tables.py").read_text(), "run scripts/make_python_tables.py"


def test_the_package_has_the_version_of_the_library():
    _library.lib.dls_version.restype = ctypes.c_char_p
    assert _library.lib.dls_version().decode() == dlsched.__version__
    assert f'\nversion = "{dlsched.__version__}"\n' in (PACKAGE / "pyproject.toml").read_text()


@pytest.mark.parametrize("name, code, meaning", [row[:3] for row in _tables.ERRORS])
def test_every_error_is_an_exception_that_the_library_calls_the_same(name, code, meaning):
    for function in ("dls_error_name", "dls_error_meaning"):
        getattr(_library.lib, function).restype = ctypes.c_char_p
    assert _library.lib.dls_error_name(code).decode() == name
    assert _library.lib.dls_error_meaning(code).decode() == meaning
    error = errors.make(code, "a sentence")
    assert (type(error).__name__, error.code, str(error)) == (name.removeprefix("DLS_"), code, "a sentence")


def test_structs_lie_in_memory_as_in_c(tmp_path):
    lines = ["#include <dlsched/dlsched.h>", "#include <stdio.h>", "int main(void)", "{"]
    expected = []
    for name, struct in STRUCTS.items():
        lines.append(f'printf("%zu\\n", sizeof(struct {name}));')
        expected.append(ctypes.sizeof(struct))
        for field, _ in struct._fields_:
            lines.append(f'printf("%zu\\n", offsetof(struct {name}, {field}));')
            expected.append(getattr(struct, field).offset)
    source = tmp_path / "layout.c"
    source.write_text("\n".join(lines + ["}"]))
    subprocess.run(["cc", "-I", ROOT / "include", source, "-o", tmp_path / "layout"], check=True)
    printed = subprocess.run([tmp_path / "layout"], check=True, capture_output=True, text=True).stdout
    assert [int(line) for line in printed.split()] == expected


@pytest.mark.parametrize("name", _library.FUNCTIONS)
def test_functions_take_as_many_arguments_as_in_c(name):
    text = "".join(header.read_text() for header in HEADERS)
    arguments = re.search(rf"\b{name}\(([^;]*)\);", text).group(1)
    assert len(_library.FUNCTIONS[name][1]) == (0 if arguments == "void" else arguments.count(",") + 1)
