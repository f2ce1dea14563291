"""dls-submit model: what it says of a model on this machine, without any cluster."""

import pytest


def model(programs, verb, *words, **more):
    return programs.run("dls-submit", "model", verb, *words, **more)


def one_object(ended):
    assert ended.code == 0, ended.err
    (found,) = ended.objects()
    return found


def test_show_says_what_a_model_takes_and_what_it_costs(programs, fashion):
    found = one_object(model(programs, "show", "--json", fashion))
    assert [port["kind"] for port in found["inputs"] + found["outputs"]] == ["image", "classes"]
    assert (found["batchable"], found["operators"]["Gemm"], found["plan"]["batch"]) == (True, 2, 1)
    assert found["plan"]["weight_bytes"] >= 4 * found["parameters"] * 0.9
    more = one_object(model(programs, "show", "--json", "--batch", 32, fashion))
    assert more["plan"]["activation_bytes"] > found["plan"]["activation_bytes"] > 0
    lines = model(programs, "show", fashion).out.splitlines()
    plan = lines.index("plan:")
    assert lines[plan + 1 : plan + 4] == [f"  {key}: {value}" for key, value in found["plan"].items()]


def test_a_file_alone_is_a_model(programs, fashion, tmp_path):
    """For every verb that takes a model; it takes tensors, since nothing says how a picture becomes one."""
    import numpy

    numpy.save(tmp_path / "x.npy", numpy.zeros((1, 1, 28, 28), numpy.float32))
    alone = tmp_path / "the clothes.onnx"
    alone.write_bytes((fashion / "model.onnx").read_bytes())
    found = one_object(model(programs, "show", "--json", alone))
    assert [port["kind"] for port in found["inputs"] + found["outputs"]] == ["tensor", "tensor"]
    master = programs.master()
    programs.worker(master, "w1")
    for ended in (
        programs.local("--json", alone, tmp_path / "x.npy"),
        programs.submit(master, "run", "--json", alone, tmp_path / "x.npy"),
    ):
        assert ended.code == 0, ended.err
        assert ended.items()[0]["outputs"][0]["dims"] == [10]


def test_profile_tells_of_each_node(programs, fashion):
    found = one_object(model(programs, "profile", "--json", "--batch", 4, "--runs", 3, "--threads", 1, fashion))
    assert (found["batch"], found["runs"], found["threads"]) == (4, 3, 1)
    operators = [node["operator"] for node in found["nodes"]]
    assert operators == ["Conv", "Conv", "MaxPool", "Conv", "Conv", "MaxPool", "Gemm", "Gemm", "Softmax"]
    for node in found["nodes"]:
        assert node["kernel"] and 0 <= node["share"] <= 1
        assert ("gflops" in node) == (node["operator"] in ("Conv", "Gemm"))
    assert 0 < sum(node["ms"] for node in found["nodes"]) < 2 * found["ms"]
    assert found["weight_bytes"] > 0 and found["activation_bytes"] > 0
    words = [line.split()[:2] for line in model(programs, "profile", "--runs", 1, fashion).out.splitlines()]
    assert ["conv1", "Conv"] in words and ["softmax", "Softmax"] in words


def test_a_model_that_is_not_batched_says_so(programs, tmp_path):
    import onnx_files as onnx

    nodes = [onnx.node("Softmax", ["x"], ["y"], "rows", [onnx.field(1, "axis") + onnx.field(3, 0) + onnx.field(20, 2)])]
    (tmp_path / "rows.onnx").write_bytes(
        onnx.model(onnx.graph(nodes, [onnx.value("x", [4, 3])], [onnx.value("y", [4, 3])]))
    )
    found = one_object(model(programs, "show", "--json", tmp_path / "rows.onnx"))
    assert (found["batchable"], "4" in found["unbatchable"]) == (False, True), found
    ended = model(programs, "profile", "--batch", 2, tmp_path / "rows.onnx")
    assert ended.code == 4 and "one by one" in ended.err


@pytest.mark.parametrize("verb, option", [("show", "--runs"), ("profile", "--top"), ("show", "--key"), ("profile", "--master")])
def test_options_of_other_verbs(programs, fashion, verb, option):
    ended = model(programs, verb, fashion, f"{option}=1")
    assert (ended.code, ended.err) == (2, f"dls-submit: {option} is not an option of model {verb}\n")
