#!/bin/sh
# Runs every rule of this folder over the tree and says for each whether it holds, in the form of TAP.
cd "$(dirname "$0")/../.." || exit 1
failed=0
for rule in test/lint/rule_*; do
	[ -e "$rule" ] || continue
	if said=$("$rule" . 2>&1); then
		echo "ok - ${rule#test/lint/rule_}"
	else
		echo "not ok - ${rule#test/lint/rule_}"
		failed=1
	fi
	[ -z "$said" ] || echo "$said"
done
exit $failed
