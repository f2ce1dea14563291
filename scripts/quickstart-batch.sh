#!/bin/bash
# Ten thousand pictures in one job: a master and two workers on this machine name the clothing in the labelled test pictures
# of Fashion-MNIST, and the answers are compared with the labels and with what ONNX Runtime says.
# usage: quickstart-batch.sh   (by `make quickstart-batch`, or after `make`)
# The pictures are fetched the first time; afterwards no network is needed.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
# shellcheck source=scripts/cluster.sh
. scripts/cluster.sh

model=examples/fashion
pictures=build/cache/fashion
[ -d $pictures ] || scripts/get_fashion.sh $pictures

start_cluster
start=$(date +%s%N)
submit run $model $pictures/t10k-images-idx3-ubyte --output "$scratch/answers.npy"
nanoseconds=$(($(date +%s%N) - start))
scripts/check_fashion.py "$scratch/answers.npy" $pictures/t10k-labels-idx1-ubyte $model/expected_top1.npy $nanoseconds
