#!/bin/bash
# Installs the Debian packages of packages.txt that are missing, as root or by sudo, and says so, with a line for every
# tenth of the way; does nothing, in silence, when none is.
set -euo pipefail
cd "$(dirname "$0")/.."

wanted=$(sed 's/#.*//' packages.txt)
missing=
for package in $wanted; do
	status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
	[ "$status" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null; then
	echo "This system has no apt-get. Install what packages.txt names by other means and use DEPS=0." >&2
	exit 1
fi
as_root=
if [ "$(id -u)" != 0 ]; then
	if ! command -v sudo >/dev/null; then
		echo "Missing:$missing. Install them as root, or use DEPS=0 to do without." >&2
		exit 1
	fi
	as_root=sudo
fi
# What apt-get reports as "dlstatus:NUMBER:PERCENT:..." while it downloads and "pmstatus:PACKAGE:PERCENT:..." while it
# installs, as lines for people. It lets nothing else through.
show_progress() {
	awk -F: '
		/^(dl|pm)status:/ {
			at = ($1 == "dlstatus" ? "downloaded" : "installed") " " int($3 / 10) * 10 " %"
			if (at != last)
				print "  " at
			last = at
			fflush()
		}'
}

echo "Installing missing Debian packages:$missing"
echo "  fetching the lists of packages"
$as_root apt-get update -qq
# shellcheck disable=SC2086 # the list is split into words on purpose
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o APT::Status-Fd=1 -o Dpkg::Use-Pty=0 \
	--no-install-recommends $missing | show_progress
