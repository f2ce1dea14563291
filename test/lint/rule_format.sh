#!/bin/sh
# C is laid out as .clang-format says. Another version of the tool lays out differently, so that it must be the one of
# Debian 12.
cd "${1:-.}" || exit 2
formatter=$(command -v clang-format-14 || command -v clang-format) || {
	echo "clang-format is not installed"
	exit 77
}
case $("$formatter" --version) in
*version\ 14.*) ;;
*)
	echo "clang-format is not version 14"
	exit 77
	;;
esac
find include lib cli examples bench test -name '*.[ch]' -print0 2>/dev/null |
	xargs -0 -r "$formatter" --dry-run --Werror
