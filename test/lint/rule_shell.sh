#!/bin/sh
# Shell scripts hold to shellcheck.
cd "${1:-.}" || exit 2
command -v shellcheck >/dev/null || {
	echo "shellcheck is not installed"
	exit 77
}
find scripts test bench examples deploy .ci -type f ! -name '*.[ch]' ! -name '*.py' -print 2>/dev/null | sort |
	while read -r file; do
		if head -n 1 "$file" | grep -qE '^#!.*\b(ba)?sh$'; then
			echo "$file"
		fi
	done | tr '\n' '\0' | xargs -0 -r shellcheck -x -P SCRIPTDIR -P .
