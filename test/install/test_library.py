"""What the two libraries show to a linker: nothing but the listed functions, and no state of their own."""
import re
import subprocess


def output(*words):
    return subprocess.run(words, check=True, timeout=60, capture_output=True, text=True).stdout


def test_exports_exactly_the_list(root, build):
    listed = re.findall(r"^\t(\w+);", (root / "lib/libdlsched.map").read_text(), re.MULTILINE)
    lines = output("nm", "-D", "--defined-only", build / "libdlsched.so").splitlines()
    exported = [re.sub(r"@.*", "", line.split()[-1]) for line in lines if " A " not in line]
    assert sorted(exported) == sorted(listed)


def test_soname(build):
    assert "Library soname: [libdlsched.so.0.1]" in output("readelf", "-d", build / "libdlsched.so")


def test_archive_defines_only_our_names(build):
    lines = output("nm", "-g", "--defined-only", build / "libdlsched.a").splitlines()
    names = [line.split()[-1] for line in lines if len(line.split()) == 3]
    assert [name for name in names if not name.startswith(("dls_", "dlsi_", "onnx__"))] == []


def test_no_variables_that_outlive_a_call(build):
    """Handles hold all state. The descriptors that protoc-c generates are never written, what guards the process's own
    rand() must be the process's too (net/router.c), and the team that stands by for a thread is of the call that the thread is
    in, as libgomp's is (kernel/parallel.c)."""
    allowed = ("router.o: lending in ", "parallel.o: held in .tbss")
    variables, member = [], ""
    for line in output("objdump", "-t", build / "libdlsched.a").splitlines():
        if line.endswith("file format elf64-x86-64") or "file format" in line:
            member = line.split(":")[0]
        match = re.match(r"\w+ .{7} (\.t?bss\S*|\.t?data\S*|\*COM\*)\s+\w+\s+(?:\.hidden )?(\S+)$", line)
        if match and not match[1].startswith(".data.rel.ro") and match[2] != match[1] and member != "onnx.pb-c.o":
            variables.append(f"{member}: {match[2]} in {match[1]}")
    assert [variable for variable in variables if not variable.startswith(allowed)] == []
