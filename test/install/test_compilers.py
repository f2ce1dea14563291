"""Everything compiles without a warning by the compiler that the build does not use by itself."""
from test_install import make


def test_clang(root):
    make(root, "all", "BUILD=build/clang", "CC=clang", "CFLAGS=-O0", "WERROR=-Werror")
