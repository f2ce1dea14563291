"""Each rule of the tree, broken on purpose in a tree of a few lines; and a clean tree, which every rule lets pass."""
import pathlib
import shutil
import subprocess

import pytest

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent

CLEAN = {
    "include/dlsched/error.h": """\
/* Errors. */
#ifndef DLSCHED_ERROR_H
#define DLSCHED_ERROR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DLS_CALL(x) dls_not_a_function(x)

/* A callback, which is no function of the library. */
typedef void (*dls_callback)(void *arg);

const char *dls_error_name(int code);

#ifdef __cplusplus
}
#endif
#endif
""",
    "lib/base/error.h": """\
/* How an error is raised. */
#ifndef DLSI_ERROR_H
#define DLSI_ERROR_H

#include <dlsched/error.h>

#endif
""",
    "lib/base/error.c": """\
#include "base/error.h"

#include "base/export.h"

/* Never calls abort(), and "printf(" is only a text. */
DLS_EXPORT const char *dls_error_name(int code)
{
	return code ? "printf(\\"" : "";
}
""",
    "lib/base/export.h": """\
/* What leaves the shared library. */
#ifndef DLSI_EXPORT_H
#define DLSI_EXPORT_H

#define DLS_EXPORT __attribute__((visibility("default")))

#endif
""",
    "lib/core/job.c": """\
/* Jobs. */
#include "base/error.h"

struct ops {
	int (*open)(int);
};

int dlsi_job_open(const struct ops *ops)
{
	return ops->open(1);
}
""",
    "lib/libdlsched.map": "DLSCHED_0 {\nglobal:\n\tdls_error_name;\nlocal:\n\t*;\n};\n",
    "cli/dls-x.c": '/* A program. */\n#include "cli/table.h"\n#include <dlsched/error.h>\n',
    "cli/table.h": "/* Tables. */\n#ifndef DLSI_TABLE_H\n#define DLSI_TABLE_H\n\n#endif\n",
    "scripts/run.sh": '#!/bin/sh\n# Runs.\necho "$1"\n',
    "test/tool.py": '"""A tool."""\n',
}


def lines(count):
    return "".join(f"int dlsi_x{number};\n" for number in range(count))


def function(count):
    return "/* Long. */\nint dlsi_long(int x)\n{\n" + "\tx++;\n" * (count - 3) + "\treturn x;\n}\n"


# rule, the files that differ from the clean tree (None: removed), and what the rule must say
BROKEN = {
    "later room": ("layers", {"lib/base/x.c": '/* X. */\n\n#include "core/job.h"\n'},
                   "lib/base/x.c:3: base/ comes before core/"),
    "neighbour's room": ("layers", {"lib/client/x.c": '/* X. */\n\n#include "worker/job.h"\n'},
                         "lib/client/x.c:3: client/ and worker/ are on one floor"),
    "no such room": ("layers", {"lib/misc/x.c": "/* X. */\n"}, "lib/misc/x.c:1: it lies in none of the rooms"),
    "folder in a room": ("layers", {"lib/base/deep/x.c": "/* X. */\n"}, "lib/base/deep/x.c:1: it lies in none"),
    "include without a room": ("layers", {"lib/base/x.c": '/* X. */\n#include "error.h"\n'},
                               'lib/base/x.c:2: "error.h" does not begin with a room'),
    "include of the tests": ("layers", {"lib/base/x.c": '/* X. */\n#include "test/x.h"\n'}, "does not begin with a room"),
    "own header not first": ("layers", {"lib/base/error.c": '#include <stdint.h>\n#include "base/error.h"\n'},
                             "lib/base/error.c:1: its own header comes first"),
    "third party in a foreign room": ("layers", {"lib/core/x.c": "/* X. */\n#include <zmq.h>\n"},
                                      "lib/core/x.c:2: <zmq.h> may be included only in lib/net/"),
    "third party in a foreign file": ("layers", {"lib/base/x.c": "/* X. */\n#include <sodium.h>\n"},
                                      "lib/base/x.c:2: <sodium.h> may be included only in lib/base/hash.c"),
    "version of a library in a foreign file": ("layers", {"bench/x.c": "/* X. */\n#if DNNL_VERSION_MAJOR > 2\n#endif\n"},
                                               "bench/x.c:2: only lib/device/onednn_compat.h asks for DNNL_VERSION_*"),
    "private header in a program": ("layers", {"cli/dls-x.c": '/* X. */\n#include "base/error.h"\n'},
                                    "cli/dls-x.c:2: cli/ sees include/ and itself only"),
    "private header in an example": ("layers", {"examples/x.c": '/* X. */\n#include "lib/base/error.h"\n'},
                                     "examples/x.c:2: examples/ sees include/ and itself only"),
    "private header in a public one": ("layers", {"include/dlsched/x.h": '/* X. */\n#include "base/error.h"\n'},
                                       "include/dlsched/x.h:2: a public header includes"),
    "circle inside a room": ("layers", {"lib/base/a.h": '/* A. */\n#include "base/b.h"\n',
                                        "lib/base/b.h": '/* B. */\n#include "base/a.h"\n'},
                             "lib/base/a.h -> lib/base/b.h -> lib/base/a.h"),
    "circle of public headers": ("layers", {"include/dlsched/a.h": "/* A. */\n#include <dlsched/b.h>\n",
                                            "include/dlsched/b.h": "/* B. */\n#include <dlsched/a.h>\n"},
                                 "includes in a circle"),
    "exported, not declared": ("exports", {"include/dlsched/error.h": "/* E. */\n"},
                               "lib/base/error.c:6: dls_error_name is exported but declared in no public header"),
    "exported, not listed": ("exports", {"lib/libdlsched.map": "DLSCHED_0 {\nlocal:\n\t*;\n};\n"},
                             "lib/base/error.c:6: dls_error_name is exported but not listed"),
    "listed, not exported": ("exports", {"lib/base/error.c": "/* E. */\nconst char *dls_error_name(int code)\n"},
                             "dls_error_name is listed but not defined with DLS_EXPORT"),
    "ends the process": ("calls", {"lib/base/x.c": "/* X. */\n\nvoid f(void) { abort(); }\n"},
                         "lib/base/x.c:3: abort ends the process"),
    "asserts": ("calls", {"lib/base/x.c": "void f(int x) { assert(x); }\n"}, "assert ends the process"),
    "prints": ("calls", {"lib/base/x.c": 'void f(void) { printf("x"); }\n'}, "printf prints"),
    "hands the stream on": ("calls", {"lib/base/x.c": "void f(void) { g(stderr); }\n"}, "stderr prints"),
    "sleeps": ("calls", {"lib/net/x.c": "void f(void) { usleep (5); }\n"}, "usleep sleeps"),
    "strtok": ("calls", {"lib/net/x.c": "char *f(char *x) { return strtok(x, 0); }\n"}, "strtok knows no bound"),
    "takes a signal": ("calls", {"lib/node/x.c": "void f(void) { signal(2, 0); }\n"}, "signal changes the whole process"),
    "takes memory": ("calls", {"lib/node/x.c": "void *f(void) { return malloc(3); }\n"}, "malloc takes memory past"),
    "time in the core": ("calls", {"lib/core/x.c": "long f(void) { return dlsi_clock_utc_ns(); }\n"},
                         "dlsi_clock_utc_ns tells the time"),
    "chance in a policy": ("calls", {"lib/policy/x.c": "int f(void) { return getrandom(0, 0, 0); }\n"},
                           "getrandom draws chance"),
    "file in the core": ("calls", {"lib/core/x.c": 'int f(void) { return open("x", 0); }\n'}, "open touches the world"),
    "thread in the core": ("calls", {"lib/core/x.c": "int f(void) { return pthread_create(0, 0, 0, 0); }\n"},
                           "pthread_create makes threads"),
    "no opening comment in C": ("shape", {"lib/base/x.c": "int dlsi_x;\n"}, "lib/base/x.c:1: it does not open"),
    "no opening comment in a header": ("shape", {"lib/base/error.h": "#ifndef DLSI_ERROR_H\n#define DLSI_ERROR_H\n#endif\n"},
                                       "lib/base/error.h:1: it does not open"),
    "no opening comment in a script": ("shape", {"scripts/run.sh": "#!/bin/sh\necho\n"}, "scripts/run.sh:1: it does not"),
    "no opening comment in Python": ("shape", {"test/tool.py": "import os\n"}, "test/tool.py:1: it does not open"),
    "long file": ("shape", {"lib/base/x.c": "/* X. */\n" + lines(600)}, "lib/base/x.c:601: 601 lines, more than 600"),
    "long function": ("shape", {"lib/base/x.c": function(71)}, "lib/base/x.c:3: 71 lines of dlsi_long, more than 70"),
    "no include guard": ("shape", {"lib/base/x.h": "/* X. */\n#define DLSI_X_H\n"}, "lib/base/x.h:1: it has no include guard"),
    "guard used twice": ("shape", {"lib/core/error.h": "/* E. */\n#ifndef DLSI_ERROR_H\n#define DLSI_ERROR_H\n#endif\n"},
                         "its include guard DLSI_ERROR_H is that of"),
    "unfinished": ("shape", {"lib/base/x.c": "/* X. */\n/* TODO */\n"}, "lib/base/x.c:2: TODO"),
    "unmerged page": ("shape", {"docs/x.md": "<<<<<<< HEAD\none\n=======\n"}, "docs/x.md:1: <<<<<<< HEAD"),
    "unmerged page above": ("shape", {"X.md": "\n>>>>>>> e6df649 (X)\n"}, "X.md:2: >>>>>>> e6df649"),
    "header that does not stand alone": ("headers", {"include/dlsched/x.h": "/* X. */\nsize_t dls_x(void);\n"}, "size_t"),
    "header that is not C++": ("headers", {"include/dlsched/x.h": "/* X. */\nvoid dls_x(int class);\n"}, "class"),
    "layout": ("format", {"lib/base/x.c": "/* X. */\nint  dlsi_x;\n"}, "lib/base/x.c:2:4"),
    "shell": ("shell", {"scripts/run.sh": "#!/bin/sh\n# Runs.\necho $1\n"}, "SC2086"),
    "shell without a suffix": ("shell", {".ci/run": "#!/bin/bash\n# Runs.\necho $1\n"}, "SC2086"),
}


def make_tree(folder, differing):
    for name, text in {**CLEAN, **differing}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    shutil.copy(ROOT / ".clang-format", folder)


def run(rule, folder):
    program, = HERE.glob(f"rule_{rule}.*")
    done = subprocess.run([program, folder], capture_output=True, text=True, timeout=60, check=False)
    if done.returncode == 77:
        pytest.skip(done.stdout)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("rule", sorted(path.stem[5:] for path in HERE.glob("rule_*")))
def test_clean_tree_passes(rule, tmp_path):
    make_tree(tmp_path, {})
    assert run(rule, tmp_path) == (0, "")


@pytest.mark.parametrize("rule, differing, sentence", BROKEN.values(), ids=BROKEN.keys())
def test_broken_tree_is_told_so(rule, differing, sentence, tmp_path):
    make_tree(tmp_path, differing)
    status, said = run(rule, tmp_path)
    assert status not in (0, 77)
    assert sentence in said


@pytest.mark.parametrize("text", [function(70), "/* X. */\n" + lines(599)], ids=["function", "file"])
def test_the_limit_itself_passes(text, tmp_path):
    make_tree(tmp_path, {"lib/base/x.c": text})
    assert run("shape", tmp_path) == (0, "")


def test_exports_are_written(tmp_path):
    make_tree(tmp_path, {"lib/libdlsched.map": ""})
    subprocess.run([HERE / "rule_exports.py", "--write"], cwd=tmp_path, check=True, timeout=60)
    assert (tmp_path / "lib/libdlsched.map").read_text() == CLEAN["lib/libdlsched.map"]
