#!/bin/bash
# Runs fuzz targets one after another, each for some seconds, on the inputs of test/fuzz/corpus/NAME/ and those that
# earlier runs found. An input that breaks one is kept beside the programs, and its name is printed.
# usage: run.sh SECONDS PROGRAM...
set -u
cd "$(dirname "$0")/../.." || exit 1
seconds=$1
shift
failed=0
for program in "$@"; do
	name=${program##*/fuzz_}
	found=${program%/*}/found/$name
	log=$program.log
	mkdir -p "$found"
	seeds=("$found")
	[ -d "test/fuzz/corpus/$name" ] && seeds+=("test/fuzz/corpus/$name")
	if "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -artifact_prefix="$program-" \
		-print_final_stats=1 "${seeds[@]}" >"$log" 2>&1; then
		printf 'ok    %-16s %s inputs\n' "$name" "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")"
	else
		printf 'FAIL  %s\n' "$name"
		tail -n 40 "$log"
		failed=1
	fi
done
exit $failed
