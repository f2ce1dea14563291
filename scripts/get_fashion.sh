#!/bin/bash
# The 10,000 labelled test pictures of Fashion-MNIST, from Debian's dataset-fashion-mnist (MIT), as plain idx files.
# usage: get_fashion.sh FOLDER
# The package is used where it is installed; else it is unpacked and not installed.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=scripts/debian_data.sh
. "$here/debian_data.sh"

[ $# -eq 1 ] || { echo "usage: ${0##*/} FOLDER" >&2; exit 2; }
target=${1%/}
mkdir -p "$(dirname "$target")"
temp=$(mktemp -d "$target.XXXXXX")
trap 'rm -rf "$temp"' EXIT

data=/usr/share/datasets/fashion-mnist
if [ ! -e $data/t10k-images-idx3-ubyte.gz ]; then
	unpack_package dataset-fashion-mnist "$temp"
	data=$temp/root$data
fi
mkdir "$temp/fashion"
for file in t10k-images-idx3-ubyte t10k-labels-idx1-ubyte; do
	gunzip --stdout "$data/$file.gz" >"$temp/fashion/$file"
done
(cd "$temp/fashion" && sha256sum --check --quiet) <<'SUMS'
5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b  t10k-images-idx3-ubyte
0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34  t10k-labels-idx1-ubyte
SUMS
replace_folder "$temp/fashion" "$target"
echo "made $target"
