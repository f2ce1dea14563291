# Sourced by the quickstart scripts: a master and two workers on this machine, as processes of their own.
# shellcheck shell=bash
#
# The caller's shell is stopped by Ctrl-C, by `kill` or at its end; whichever comes, all that start_cluster started is
# stopped by its process id, and the folder with their logs and caches is removed.

programs=${DLS_PROGRAMS:-build}
scratch=
master=
pids=()

start_cluster() {
	local threads=$((($(nproc) + 1) / 2)) name
	if [ ! -x "$programs/dls-master" ]; then
		echo "${0##*/}: $programs/dls-master is not there: run 'make' first" >&2
		exit 1
	fi
	scratch=$(mktemp -d "${TMPDIR:-/tmp}/dls-quickstart.XXXXXX")
	trap stop_cluster EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	start_program dls-master --bind tcp://127.0.0.1:0 --endpoint-file "$scratch/endpoint"
	# It chooses a free port and writes its address into the file when it listens.
	wait_for dls-master "${pids[0]}" test -s "$scratch/endpoint"
	master=$(cat "$scratch/endpoint")
	echo "started dls-master at $master (process ${pids[0]})"
	for name in w1 w2; do
		start_program dls-worker --master "$master" --name $name --threads $threads --cache-dir "$scratch/$name"
		wait_for dls-worker "${pids[-1]}" grep -qs "works for" "$scratch/log.$((${#pids[@]} - 1)).dls-worker"
		echo "started dls-worker $name with $threads thread(s) (process ${pids[-1]})"
	done
}

# start_program NAME OPTION...: in the background; its output goes to a log of its own.
start_program() {
	local name=$1
	shift
	"$programs/$name" "$@" >"$scratch/log.${#pids[@]}.$name" 2>&1 &
	pids+=($!)
}

# wait_for PROGRAM PID COMMAND...: until the command succeeds, as long as that process lives, ten seconds at most.
wait_for() {
	local program=$1 pid=$2 tries
	shift 2
	for ((tries = 0; tries < 100; tries++)); do
		"$@" && return
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.1
	done
	echo "${0##*/}: $program did not start" >&2
	exit 1
}

stop_cluster() {
	local status=$? pid
	trap '' INT TERM
	if [ $status -ne 0 ] && [ $status -lt 128 ]; then
		tail -n 20 "$scratch"/log.* >&2
	fi
	# The master last: a worker that loses it first would look for it.
	for ((pid = ${#pids[@]} - 1; pid >= 0; pid--)); do
		stop_process "${pids[pid]}"
	done
	rm -rf "$scratch"
	[ ${#pids[@]} -eq 0 ] || echo "stopped what was started"
	exit $status
}

# stop_process PID: asks it to end, and ends it after five seconds. Does not `wait` for it: where the trap has interrupted a
# `wait` for a process that is gone, another one for the same process hangs until some other child ends (bash 5.2).
stop_process() {
	local tries
	kill -TERM "$1" 2>/dev/null || true
	for ((tries = 0; tries < 50; tries++)); do
		kill -0 "$1" 2>/dev/null || break
		sleep 0.1
	done
	if kill -KILL "$1" 2>/dev/null; then
		echo "${0##*/}: process $1 did not end by itself" >&2
	fi
}

# submit OPTION...: dls-submit for that master, shown before it runs. In the background, so that a signal to this script is
# acted on at once.
submit() {
	local status=0
	echo "\$ dls-submit --master $master $*"
	"$programs/dls-submit" --master "$master" "$@" &
	pids+=($!)
	wait $! || status=$?
	unset 'pids[-1]'
	return $status
}
