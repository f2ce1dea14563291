#!/bin/sh
# Each public header compiles alone, as C11 and as C++17, with gcc and with clang.
cd "${1:-.}" || exit 2
failed=0

compiles() { # COMPILER LANGUAGE STANDARD
	command -v "$1" >/dev/null || {
		echo "$1 is not installed"
		exit 77
	}
	for header in include/dlsched/*.h; do
		printf '#include <%s>\nextern int a_program;\n' "${header#include/}" |
			"$1" -x "$2" "-std=$3" -Wall -Wextra -pedantic -Werror -fsyntax-only -Iinclude - || failed=1
	done
}

compiles gcc c c11
compiles clang c c11
compiles g++ c++ c++17
compiles clang++ c++ c++17
exit $failed
