#!/bin/bash
# The main job, end to end: a master and two workers on this machine say what is in five photos.
# usage: quickstart.sh   (by `make quickstart`, or after `make`)
# Model and photos are fetched the first time; afterwards no network is needed.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
# shellcheck source=scripts/cluster.sh
. scripts/cluster.sh

model=build/cache/models/efficientnet-lite0
photos=build/cache/photos
[ -d $model ] || scripts/make_lite0.py $model
[ -d $photos ] || scripts/get_photos.sh $photos

start_cluster
submit run $model $photos/{chelsea.png,coffee.png,rocket.jpg,motorcycle_left.png,camera.png}
