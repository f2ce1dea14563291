#!/bin/bash
# Runs tests one after another and closes with one summary: what passed, what failed, what was left out and why.
#
# Each argument is one of: a unit test program, the simulator, `lint`, a folder or file of Python tests. BUILD is the
# absolute path of the build folder and PYTEST that of pytest, empty where there is none. What passes is one line; the
# output of what fails is shown whole and stays in BUILD/test/log/.
set -u
cd "$(dirname "$0")/.." || exit 1
export BUILD
# Threads of OpenMP that wait by spinning would take the processors from all other threads of a test.
export OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive}
log_folder=$BUILD/test/log
mkdir -p "$log_folder"
passed=0 failed=0 skipped=0
left_out=()

skip() { # WHAT WHY
	left_out+=("$1: $2")
	skipped=$((skipped + 1))
}

# Counts what a log says and reports. Tests that a program did not come to say anything about, because it crashed or
# hung, are one failure.
report() { # NAME STATUS PASSED FAILED LOG SECONDS
	local good=$3 bad=$4

	[ "$2" = 0 ] || [ "$bad" != 0 ] || bad=1
	passed=$((passed + good))
	failed=$((failed + bad))
	if [ "$bad" = 0 ]; then
		printf 'ok    %-24s %4d passed  %3d s\n' "$1" "$good" "$6"
		return
	fi
	printf 'FAIL  %-24s %4d passed  %d failed, exit status %d:\n' "$1" "$good" "$bad" "$2"
	sed 's/^/      /' "$5"
}

run_tap() { # NAME COMMAND...
	local name=$1 log=$log_folder/$1.log status line begin=$SECONDS

	shift
	timeout 300 "$@" >"$log" 2>&1
	status=$?
	while read -r line; do
		skip "$name" "${line#*# SKIP }"
	done < <(grep '^ok .*# SKIP' "$log")
	report "$name" $status "$(grep '^ok ' "$log" | grep -cv '# SKIP')" "$(grep -c '^not ok ' "$log")" "$log" \
		$((SECONDS - begin))
}

run_simulator() { # PROGRAM
	local log=$log_folder/sim.log status begin=$SECONDS

	timeout 600 "$1" --seeds 200 >"$log" 2>&1
	status=$?
	report sim $status $((status == 0)) $((status != 0)) "$log" $((SECONDS - begin))
}

count() { # WORD LOG: the number before the word in pytest's last line
	tail -n 1 "$2" | grep -oE "[0-9]+ $1" | grep -oE '[0-9]+' || echo 0
}

run_pytest() { # FOLDER OR FILE
	local name=${1#test/} log status begin=$SECONDS

	name=${name%/}
	log=$log_folder/${name//\//_}.log
	timeout 1800 "$PYTEST" -p no:cacheprovider -q --tb=short -rs "$1" >"$log" 2>&1
	status=$?
	while read -r line; do
		skip "$name" "${line#SKIPPED }"
	done < <(grep '^SKIPPED ' "$log")
	report "$name" $status "$(count passed "$log")" $(($(count failed "$log") + $(count error "$log"))) "$log" \
		$((SECONDS - begin))
}

for what in "$@"; do
	case $what in
	lint) run_tap rules test/lint/run.sh ;;
	*/test/sim/sim) run_simulator "$what" ;;
	*/test/unit/*)
		if [ -x "$what" ]; then
			CMOCKA_MESSAGE_OUTPUT=TAP run_tap "${what##*/test_}" "$what"
		else
			skip "${what##*/test_}" "libcmocka is not installed"
		fi
		;;
	*)
		if [ -n "$PYTEST" ]; then
			run_pytest "$what"
		else
			skip "$what" "there is no Python environment for it in build/venv"
		fi
		;;
	esac
done

echo
for reason in "${left_out[@]+"${left_out[@]}"}"; do
	echo "left out: $reason"
done
summary="$passed passed, $failed failed"
[ $skipped = 0 ] || summary="$summary, $skipped skipped"
echo "$summary"
[ $failed = 0 ]
