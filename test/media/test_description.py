"""docs/model.schema.json against the library's parser: both accept and refuse the same documents."""

import copy
import json
import random
import re

import jsonschema
import pytest
from conftest import ROOT, Refused

SCHEMA = json.loads((ROOT / "docs/model.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
EXAMPLES = [ROOT / "examples/fashion/model.json"]

NUMBERS = [0, 1, -1, 2, 255, 256, 4096, 4097, 16384, 16385, 65536, 65537, 0.5, 1.0, 1e300, 127]
JUNK = [None, True, False, "", "1", "rgb", "image", "tensor", "classes", [], {}, [1], [1, 2], [0, 5], [1, 2, 3], *NUMBERS]


def size(rng):
    return rng.choice([rng.randint(1, 16384), [rng.randint(1, 16384), rng.randint(1, 16384)]])


def image(rng):
    colour = rng.choice(["rgb", "bgr", "grey"])
    channels = 1 if colour == "grey" else 3
    members = {
        "resize": rng.choice([{"shorter": 256}, {"exact": size(rng)}, {"fit": size(rng)}, {"fit": 9, "pad": 114}]),
        "filter": rng.choice(["bilinear", "nearest", "bicubic", "lanczos"]),
        "crop": size(rng),
        "colour": colour,
        "scale": rng.uniform(-2, 2),
        "mean": rng.choice([0, 0.5, [127], [1.5] * channels]),
        "std": rng.choice([1, 128, [0.25], [1.5] * channels]),
        "layout": rng.choice(["nchw", "nhwc"]),
    }
    chosen = {key: value for key, value in members.items() if rng.random() < 0.6}
    if "fit" in chosen.get("resize", {}) and rng.random() < 0.8:
        chosen.pop("crop", None)
    return {"kind": "image", **chosen}


def classes(rng):
    members = {"softmax": rng.random() < 0.5, "top": rng.randint(1, 65536)}
    return {"kind": "classes", **{key: value for key, value in members.items() if rng.random() < 0.6}}


def document(rng):
    tensor = {"kind": "tensor"}
    return {
        "inputs": {name: rng.choice([image(rng), tensor]) for name in "abc"[: rng.randint(0, 3)]},
        "outputs": {name: rng.choice([classes(rng), tensor]) for name in "xyz"[: rng.randint(0, 3)]},
        "max_batch": rng.randint(1, 4096),
    }


def places(value, found):
    """Every (container, key) in a document."""
    if isinstance(value, (dict, list)):
        for key in value if isinstance(value, dict) else range(len(value)):
            found.append((value, key))
            places(value[key], found)
    return found


def damage(rng, value):
    container, key = rng.choice(places(value, []) or [(value, "inputs")])
    action = rng.random()
    if action < 0.5:
        container[key] = copy.deepcopy(rng.choice(JUNK))
    elif action < 0.7:
        container.pop(key, None) if isinstance(container, dict) else container.pop(key)
    elif isinstance(container, dict):
        keys = ["kind", "resize", "pad", "shorter", "fit", "exact", "softmax", "top", "mean", "std", "colour", "n" * 256]
        container[rng.choice(keys)] = copy.deepcopy(rng.choice(JUNK))
    else:
        container.append(copy.deepcopy(rng.choice(NUMBERS)))


def is_accepted(tool, value):
    try:
        tool.call("describe", data=json.dumps(value).encode())
    except Refused as refused:
        return False, refused.sentence
    return True, ""


def test_schema_and_parser_agree(tool):
    counts = {True: 0, False: 0}
    for seed in range(4000):
        rng = random.Random(seed)
        value = document(rng)
        for _ in range(rng.choice([0, 1, 1, 2])):
            damage(rng, value)
        expected = VALIDATOR.is_valid(value)
        accepted, sentence = is_accepted(tool, value)
        assert accepted == expected, f"seed {seed}: {json.dumps(value)}: {sentence}"
        counts[expected] += 1
    assert min(counts.values()) > 1000, counts


def properties(*names):
    return {key for name in names for key in SCHEMA["$defs"][name]["properties"]}


def test_the_parser_knows_no_key_that_the_schema_lacks():
    expected = {
        "file_keys": set(SCHEMA["properties"]),
        "tensor_keys": properties("tensor"),
        "image_keys": properties("image"),
        "resize_keys": properties("shorter", "exact", "fit"),
        "classes_keys": properties("classes"),
    }
    source = (ROOT / "lib/media/description.c").read_text()
    found = dict(re.findall(r"\b(\w+_keys)\[\] = \{(.*?)NULL\}", source, re.DOTALL))
    assert {name: set(words.split('"')[1::2]) for name, words in found.items()} == expected


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_the_models_of_the_project_are_described_well(tool, path):
    value = json.loads(path.read_text())
    VALIDATOR.validate(value)
    assert is_accepted(tool, value) == (True, "")
