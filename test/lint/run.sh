#!/bin/sh
# Runs every rule of this folder over the tree and says for each whether it holds, in the form of TAP.
#
# A rule is a program rule_NAME.* that gets the root of a tree, prints a line for each place that breaks it
# (file:line: what, and what to do) and exits with 1. Exit 77 says that a tool it needs is missing, which it names.
cd "$(dirname "$0")/../.." || exit 1
failed=0
for rule in test/lint/rule_*; do
	name=${rule#test/lint/rule_}
	said=$("$rule" . 2>&1)
	case $? in
	0) echo "ok - ${name%.*}" ;;
	77) echo "ok - ${name%.*} # SKIP $said" ;;
	*)
		echo "not ok - ${name%.*}"
		echo "$said"
		failed=1
		;;
	esac
done
exit $failed
