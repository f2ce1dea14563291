#!/bin/bash
# The photos of the quickstart, from Debian's python3-skimage (CC0 or public domain), which is unpacked and not installed.
# usage: get_photos.sh FOLDER
# FOLDER gets five photos; FOLDER-bad gets one that is cut off in the middle, as bad input for tests.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=scripts/debian_data.sh
. "$here/debian_data.sh"

[ $# -eq 1 ] || { echo "usage: ${0##*/} FOLDER" >&2; exit 2; }
target=${1%/}
mkdir -p "$(dirname "$target")"
temp=$(mktemp -d "$target.XXXXXX")
trap 'rm -rf "$temp"' EXIT

mkdir "$temp/photos" "$temp/bad"
unpack_package python3-skimage "$temp"
data=$temp/root/usr/lib/python3/dist-packages/skimage/data
(cd "$data" && sha256sum --check --quiet) <<'SUMS'
596aa1e7cb875eb79f437e310381d26b338a81c2da23439704a73c4651e8c4bb  chelsea.png
cc02f8ca188b167c775a7101b5d767d1e71792cf762c33d6fa15a4599b5a8de7  coffee.png
c2dd0de7c538df8d111e479619b129464d0269d0ae5fd18ca91d33a7fdfea95c  rocket.jpg
db18e9c4157617403c3537a6ba355dfeafe9a7eabb6b9b94cb33f6525dd49179  motorcycle_left.png
b0793d2adda0fa6ae899c03989482bff9a42d3d5690fc7e3648f2795d730c23a  camera.png
4c226038acc78012d335efba29c6119a24444a886842182b7e18db378f4a557d  truncated.jpg
SUMS
mv "$data"/{chelsea.png,coffee.png,rocket.jpg,motorcycle_left.png,camera.png} "$temp/photos"
mv "$data/truncated.jpg" "$temp/bad"
replace_folder "$temp/bad" "$target-bad"
replace_folder "$temp/photos" "$target"
echo "made $target"
