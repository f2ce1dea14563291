"""dls-submit model: what it says of a model on this machine, without any cluster."""

import json
import os
import re

import numpy
import onnx
import onnx_files
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
    # kernels are chosen by measuring, so that another process may need other bytes
    assert [re.sub(r"\d+$", "N", line) for line in lines[plan + 1 : plan + 4]] == [f"  {key}: N" for key in found["plan"]]


def test_a_file_alone_is_a_model(programs, fashion, tmp_path):
    """For every verb that takes a model; it takes tensors, since nothing says how a picture becomes one."""
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


def test_the_threads_that_are_asked_for(programs, fashion):
    def threads(*words, **environment):
        return one_object(model(programs, "profile", "--json", "--runs", 1, *words, fashion, **environment))["threads"]

    processors = os.sched_getaffinity(0)
    assert threads("--threads", 3, OMP_NUM_THREADS="2") == 3
    assert threads(OMP_NUM_THREADS="2") == 2
    del programs.environment["OMP_NUM_THREADS"]
    os.sched_setaffinity(0, {min(processors)})
    try:
        assert threads() == 1
    finally:
        os.sched_setaffinity(0, processors)


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
    lines = model(programs, "profile", "--runs", 1, fashion).out.splitlines()
    words = [line.split()[:2] for line in lines]
    assert ["conv1", "Conv"] in words and ["softmax", "Softmax"] in words
    table = lines[lines.index("nodes:") + 1 :][: 1 + len(operators)]
    assert len({len(line) for line in table}) == 1, "numbers stand at the right"
    end = table[0].rindex(" ms ") + 3
    assert len({line[:end].rindex(".") for line in table[1:]}) == 1, "with as many decimals each"


@pytest.fixture
def any_size(tmp_path):
    """Means over pictures of any size, of any number of items."""
    nodes = [
        onnx_files.node("Relu", ["x"], ["r"], "cut"),
        onnx_files.node("GlobalAveragePool", ["r"], ["p"], "mean"),
        onnx_files.node("Flatten", ["p"], ["y"]),
    ]
    ports = [onnx_files.value("x", ["N", 2, "H", "W"]), onnx_files.value("y", ["N", 2])]
    path = tmp_path / "any.onnx"
    path.write_bytes(onnx_files.model(onnx_files.graph(nodes, ports[:1], ports[1:])))
    return path


def test_sizes_that_the_file_leaves_open_come_with_the_inputs(programs, any_size, tmp_path):
    rng = numpy.random.default_rng(1)
    found = one_object(model(programs, "show", "--json", any_size))
    assert found["inputs"][0]["dims"] == [None, 2, None, None] and "plan" not in found
    ended = model(programs, "profile", any_size)
    assert ended.code == 4 and ended.err.count("\n") == 1
    for count, size in ((1, (5, 7)), (3, (4, 4))):
        x = rng.random((count, 2, *size), numpy.float32)
        numpy.save(tmp_path / "x.npy", x)
        numpy.save(tmp_path / "y.npy", x.mean((2, 3)))
        ended = model(programs, "run", any_size, tmp_path / "x.npy", "--expect", tmp_path / "y.npy")
        assert ended.code == 0, ended.err
        found = one_object(model(programs, "profile", "--json", "--runs", 2, any_size, tmp_path / "x.npy"))
        assert (found["batch"], found["runs"]) == (count, 2)
        assert "mean" in [node["node"] for node in found["nodes"]]


def test_profile_runs_on_files_as_run_does(programs, mnist):
    files = [mnist / f"test_data_set_{number}/input_0.pb" for number in range(3)]
    found = one_object(model(programs, "profile", "--json", "--runs", 2, mnist, *files))
    assert found["batch"] == 3
    ended = model(programs, "profile", mnist, mnist / "test_data_set_0/output_0.pb")
    assert ended.code == 4 and "and this item is float32 [1, 10]" in ended.err
    ended = model(programs, "profile", "--batch", 3, mnist, *files)
    assert (ended.code, "--batch has no effect with INPUT" in ended.err) == (2, True)


def test_pb_files_bring_sizes_to_jobs(programs, any_size, tmp_path):
    rng = numpy.random.default_rng(2)
    arrays = [rng.random((1, 2, *size), numpy.float32) for size in ((3, 3), (3, 3), (6, 2))]
    files = []
    for number, array in enumerate(arrays):
        files.append(tmp_path / f"{number}.pb")
        files[-1].write_bytes(onnx.numpy_helper.from_array(array).SerializeToString())
    ended = programs.local("--json", any_size, *files)
    assert ended.code == 0, ended.out
    for item, array in zip(ended.items(), arrays, strict=True):
        assert numpy.allclose(item["outputs"][0]["values"], array.mean((0, 2, 3)), atol=1e-5)


def test_a_model_that_is_not_batched_says_so(programs, tmp_path):
    nodes = [onnx_files.node("Softmax", ["x"], ["y"], "rows", [onnx_files.field(1, "axis") + onnx_files.field(3, 0) + onnx_files.field(20, 2)])]
    (tmp_path / "rows.onnx").write_bytes(
        onnx_files.model(onnx_files.graph(nodes, [onnx_files.value("x", [4, 3])], [onnx_files.value("y", [4, 3])]))
    )
    found = one_object(model(programs, "show", "--json", tmp_path / "rows.onnx"))
    assert (found["batchable"], "4" in found["unbatchable"]) == (False, True), found
    ended = model(programs, "profile", "--batch", 2, tmp_path / "rows.onnx")
    assert ended.code == 4 and "one by one" in ended.err


@pytest.fixture
def mnist(root):
    """A model of ONNX's own, with inputs and what they give."""
    return root / "test/models/data/mnist"


@pytest.mark.parametrize("number", range(3))
def test_run_gives_what_the_test_data_of_onnx_expects(programs, mnist, number):
    data = mnist / f"test_data_set_{number}"
    ended = model(programs, "run", mnist, data / "input_0.pb", "--expect", data / "output_0.pb")
    assert (ended.code, ended.err) == (0, "")
    first, second = ended.out.splitlines()
    assert first.startswith("Plus214_Output_0: float32 [1, 10] ")
    assert second.startswith(f"as expected by {data}/output_0.pb: the largest difference is ")
    quiet = model(programs, "run", "--quiet", mnist, data / "input_0.pb", "--expect", data / "output_0.pb")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")


def test_run_makes_a_batch_of_several_items(programs, mnist, tmp_path):
    """From a file each, from one file for all, and from both."""
    sets = [mnist / f"test_data_set_{number}" for number in range(3)]
    single = []
    for data in sets:
        assert model(programs, "run", mnist, data / "input_0.pb", "--output", tmp_path / "one.npy").code == 0
        single.append(numpy.load(tmp_path / "one.npy"))
    files = [data / "input_0.pb" for data in sets]
    assert model(programs, "run", mnist, *files, "--output", tmp_path / "all.npy").code == 0
    together = numpy.load(tmp_path / "all.npy")
    assert together.shape == (3, 10)
    assert numpy.abs(together - numpy.concatenate(single)).max() <= 1e-4 * numpy.abs(together).max()
    items = numpy.random.default_rng(1).random((4, 1, 28, 28), numpy.float32)
    numpy.save(tmp_path / "items.npy", items)
    numpy.save(tmp_path / "item.npy", items[0, 0])
    words = ["--output", tmp_path / "five.npy"]
    assert model(programs, "run", mnist, tmp_path / "items.npy", tmp_path / "item.npy", *words).code == 0
    five = numpy.load(tmp_path / "five.npy")
    assert five.shape == (5, 10)
    assert (numpy.abs(five[4] - five[0]) <= 1e-4 * numpy.abs(five).max()).all()


def test_run_names_classes(programs, fashion, tmp_path):
    from PIL import Image

    Image.new("L", (28, 28), 128).save(tmp_path / "grey.png")
    found = one_object(model(programs, "run", "--json", "--top", 2, fashion, tmp_path / "grey.png", tmp_path / "grey.png"))
    (output,) = found["outputs"]
    assert (output["name"], output["dims"]) == ("output", [2, 10])
    values = numpy.array(output["values"]).reshape(2, 10)
    labels = (fashion / "labels.txt").read_text().splitlines()
    for row, classes in zip(values, output["classes"], strict=True):
        assert [one["index"] for one in classes] == list(numpy.argsort(-row)[:2])
        assert [one["label"] for one in classes] == [labels[one["index"]] for one in classes]
    lines = model(programs, "run", "--top", 2, fashion, tmp_path / "grey.png").out.splitlines()
    assert lines[0] == "output: float32 [1, 10]"
    assert [line.split(None, 1)[1] for line in lines[1:]] == [one["label"] for one in output["classes"][0]]


def test_run_names_classes_of_an_output_without_a_batch(programs, tmp_path):
    nodes = [onnx_files.node("Relu", ["x"], ["y"])]
    ports = [onnx_files.value(name, [3]) for name in "xy"]
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "model.onnx").write_bytes(onnx_files.model(onnx_files.graph(nodes, ports[:1], ports[1:])))
    (folder / "labels.txt").write_text("cat\ndog\nfox\n")
    numpy.save(tmp_path / "x.npy", numpy.float32([0.25, 0.75, 0.5]))
    ended = model(programs, "run", folder, tmp_path / "x.npy")
    assert [line.split() for line in ended.out.splitlines()[1:]] == [["0.7500", "dog"], ["0.5000", "fox"], ["0.2500", "cat"]]
    (output,) = one_object(model(programs, "run", "--json", "--top", 1, folder, tmp_path / "x.npy"))["outputs"]
    assert output["classes"] == [[{"index": 1, "label": "dog", "value": 0.75}]]


@pytest.fixture
def double(tmp_path):
    """y = x + x and z = x - x, of int64 or float32: a model whose outputs a test can say by heart."""

    def make(dtype=1):
        nodes = [onnx_files.node("Add", ["x", "x"], ["y"]), onnx_files.node("Sub", ["x", "x"], ["z"])]
        ports = [onnx_files.value(name, ["N", 3], dtype) for name in "xyz"]
        path = tmp_path / f"double{dtype}.onnx"
        path.write_bytes(onnx_files.model(onnx_files.graph(nodes, ports[:1], ports[1:])))
        return path

    return make


@pytest.fixture
def expect(programs, tmp_path, double):
    """Runs the model on x and holds y and z against these arrays."""

    def run(x, y, z, *words):
        for name, array in (("x", x), ("y", y), ("z", z)):
            numpy.save(tmp_path / f"{name}.npy", array)
        files = [tmp_path / f"{name}.npy" for name in "xyz"]
        kind = {"float32": 1, "int64": 7, "uint64": 13}[x.dtype.name]
        return model(programs, "run", double(kind), files[0], "--expect", files[1], "--expect", files[2], *words)

    return run


def test_expect_names_what_differs(expect, tmp_path):
    """The output, how many elements, the farthest one, both values, and what was allowed."""
    x = numpy.float32([[1, 2, 3], [4, 5, 6]])
    y = 2 * x
    assert expect(x, y, x - x).code == 0
    y[0, 1] += 0.5
    y[1, 2] -= 0.25
    ended = expect(x, y, x - x, "--quiet")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == (
        f'dls-submit: the output "y" differs from {tmp_path}/y.npy in 2 of 6 elements, most at [0, 1]: 4 instead of 4.5, '
        "which is off by 0.5; 1e-07 + 0.001 * |expected| is allowed\n"
    )
    ended = expect(x, y, x + 1, "--quiet")
    assert (ended.code, len(ended.err.splitlines()), '"z" differs' in ended.err) == (1, 2, True)


@pytest.mark.parametrize(
    "words, code",
    [
        ([], 1),
        (["--rtol", "0.0099"], 1),
        (["--rtol", "0.0101"], 0),
        (["--atol", "0.0079", "--rtol", 0], 1),
        (["--atol", "0.0081", "--rtol", 0], 0),
        (["--atol", "0.005", "--rtol", "0.005"], 0),
    ],
)
def test_expect_allows_what_the_tolerances_say(expect, words, code):
    """y is 0.8 and should be 0.808: off by 0.008, which is 0.99 % of it."""
    x = numpy.float32([[0.4, 0, 0]])
    assert expect(x, numpy.float32([[0.808, 0, 0]]), x - x, *words).code == code


def test_expect_and_what_is_not_a_number(expect):
    """NaN is as good as NaN, infinity as itself, and neither as a number."""
    x = numpy.float32([[numpy.nan, numpy.inf, 1]])
    z = numpy.float32([[numpy.nan, numpy.nan, 0]])
    assert expect(x, 2 * x, z).code == 0
    for column, wrong in ((0, 1), (1, -numpy.inf), (1, 7), (2, numpy.nan), (2, numpy.inf)):
        y = 2 * x
        y[0, column] = wrong
        ended = expect(x, y, z, "--atol", "1e30")
        assert ended.code == 1 and f"1 of 3 elements, most at [0, {column}]" in ended.err


@pytest.mark.parametrize("x", [numpy.int64([[2**61 + 1, -5, 0]]), numpy.uint64([[2**62 + 1, 5, 0]])], ids=["int64", "uint64"])
def test_expect_is_exact_for_large_integers(expect, x):
    """Two that are one as float64."""
    assert expect(x, 2 * x, x - x, "--rtol", 0, "--atol", 0).code == 0
    for step in (1, -1):
        y = 2 * x
        y[0, 0] = int(y[0, 0]) + step
        ended = expect(x, y, x - x, "--rtol", 0, "--atol", 0)
        assert ended.code == 1 and "which is off by 1;" in ended.err


def test_expect_of_another_shape_or_type(expect, tmp_path):
    x = numpy.float32([[1, 2, 3]])
    ended = expect(x, numpy.float32([2, 4, 6]), x - x, "--quiet")
    assert ended.code == 1
    assert ended.err == f'dls-submit: the output "y" is float32 [1, 3], and {tmp_path}/y.npy has float32 [3]\n'
    assert "has float64 [1, 3]" in expect(x, 2.0 * x.astype(float), x - x, "--quiet").err


def test_output_writes_a_file_for_each_output(programs, double, tmp_path):
    numpy.save(tmp_path / "x.npy", numpy.float32([[1, 2, 3]]))
    assert model(programs, "run", double(), tmp_path / "x.npy", "--output", tmp_path / "out.npy").code == 0
    assert numpy.load(tmp_path / "out.0.npy").tolist() == [[2, 4, 6]]
    assert numpy.load(tmp_path / "out.1.npy").tolist() == [[0, 0, 0]]
    assert not (tmp_path / "out.npy").exists()


def test_scalars_are_tensors_too(programs, tmp_path):
    nodes = [onnx_files.node("Add", ["a", "b"], ["y"])]
    ports = [onnx_files.value(name, []) for name in "aby"]
    (tmp_path / "sum.onnx").write_bytes(onnx_files.model(onnx_files.graph(nodes, ports[:2], ports[2:])))
    numpy.save(tmp_path / "a.npy", numpy.float32(2))
    numpy.save(tmp_path / "b.npy", numpy.float32(3))
    files = [tmp_path / "a.npy", tmp_path / "b.npy"]
    ended = model(programs, "run", tmp_path / "sum.onnx", *files, "--output", tmp_path / "y.npy")
    assert ended.code == 0, ended.err
    found = numpy.load(tmp_path / "y.npy")
    assert (found.shape, float(found)) == ((), 5)


def test_files_go_to_the_inputs_in_turn(programs, tmp_path):
    nodes = [onnx_files.node("Sub", ["a", "b"], ["y"])]
    ports = [onnx_files.value(name, ["N", 2]) for name in "aby"]
    (tmp_path / "sub.onnx").write_bytes(onnx_files.model(onnx_files.graph(nodes, ports[:2], ports[2:])))
    files = []
    for number, item in enumerate(([10, 20], [1, 2], [30, 40], [3, 4])):
        files.append(tmp_path / f"{number}.npy")
        numpy.save(files[-1], numpy.float32(item))
    words = ["run", tmp_path / "sub.onnx"]
    assert model(programs, *words, *files, "--output", tmp_path / "y.npy").code == 0
    assert numpy.load(tmp_path / "y.npy").tolist() == [[9, 18], [27, 36]]
    ended = model(programs, *words, *files[:3])
    assert (ended.code, "the model has 2 inputs, and 3 files are not as many for each item" in ended.err) == (4, True)


def test_run_says_what_does_not_fit(programs, mnist, double, tmp_path):
    data = mnist / "test_data_set_0"
    numpy.save(tmp_path / "x.npy", numpy.float32([[1, 2, 3]]))
    numpy.save(tmp_path / "wide.npy", numpy.float32([[1, 2, 3, 4]]))
    (tmp_path / "text").write_text("not a tensor\n")
    x = tmp_path / "x.npy"
    for words, sentence in (
        ([double(), tmp_path / "wide.npy"], f"{tmp_path}/wide.npy: the input \"x\" is float32 [1, 3], and this item is float32 [1, 4]"),
        ([double(), tmp_path / "none.npy"], "none.npy: No such file"),
        ([double(), tmp_path / "text"], f"{tmp_path}/text: the input \"x\" takes tensors, .npy and .pb files"),
        ([double(), x, "--expect", x], "the model has 2 outputs, and --expect is given 1 times"),
        ([double(), x, "--expect", x, "--expect", tmp_path / "text"], f"{tmp_path}/text: not a whole tensor of ONNX"),
        ([mnist, data / "output_0.pb"], "and this item is float32 [1, 10]"),
        ([tmp_path / "no", x], f"{tmp_path}/no/model.onnx: No such file"),
    ):
        ended = model(programs, "run", *words)
        assert (ended.code, ended.out) == (4, ""), words
        assert sentence in ended.err and ended.err.count("\n") == 1, ended.err


def test_run_of_a_model_that_is_not_batched_takes_one_item(programs, tmp_path):
    nodes = [onnx_files.node("Relu", ["x"], ["y"])]
    ports = [onnx_files.value(name, [4, 3]) for name in "xy"]
    (tmp_path / "fixed.onnx").write_bytes(onnx_files.model(onnx_files.graph(nodes, ports[:1], ports[1:])))
    numpy.save(tmp_path / "x.npy", numpy.ones((4, 3), numpy.float32))
    words = ["run", tmp_path / "fixed.onnx", tmp_path / "x.npy"]
    assert model(programs, *words, "--expect", tmp_path / "x.npy").code == 0
    ended = model(programs, *words, tmp_path / "x.npy")
    assert ended.code == 4 and f"{tmp_path}/x.npy: this is more than one item, and the input 'x'" in ended.err


def test_expect_in_a_configuration(programs, mnist, tmp_path):
    data = mnist / "test_data_set_1"
    for value, code in ((str(data / "output_0.pb"), 0), ([str(data / "output_0.pb")], 0), ([str(data / "output_0.pb")] * 2, 4)):
        (tmp_path / "c.json").write_text(json.dumps({"expect": value, "rtol": 1e-4}))
        assert model(programs, "run", "--config", tmp_path / "c.json", mnist, data / "input_0.pb").code == code
    for value in ([1], [[]], 1, [""], ["x"] * 65):
        (tmp_path / "c.json").write_text(json.dumps({"expect": value}))
        ended = model(programs, "run", "--config", tmp_path / "c.json", mnist, data / "input_0.pb")
        assert ended.code == 2 and re.search('"expect" (must be a string|is empty|is given more)', ended.err), ended.err


@pytest.mark.parametrize("words", [["--rtol", "-1"], ["--rtol", "nan"], ["--atol", "x"], ["--atol", ""]])
def test_tolerances_that_are_none(programs, mnist, words):
    ended = model(programs, "run", mnist, "x", "--expect", "y", *words)
    assert (ended.code, "it is a number from 0 on" in ended.err) == (2, True)


def test_tolerances_without_what_is_expected(programs, mnist):
    ended = model(programs, "run", mnist, "x", "--rtol", "1")
    assert (ended.code, "--rtol has no effect without --expect" in ended.err) == (2, True)


def test_pb_files_are_inputs_of_jobs(programs, mnist):
    """On a worker and in this process, beside numpy's."""
    data = [mnist / f"test_data_set_{number}" for number in range(3)]
    files = [one / "input_0.pb" for one in data]
    master = programs.master()
    programs.worker(master, "w1")
    for ended in (programs.local("--json", mnist, *files), programs.submit(master, "run", "--json", mnist, *files)):
        assert ended.code == 0, ended.err
        for item, one in zip(ended.items(), data, strict=True):
            expected = numpy.frombuffer((one / "output_0.pb").read_bytes()[-40:], numpy.float32)
            values = numpy.array(item["outputs"][0]["values"])
            assert numpy.abs(values - expected).max() <= 1e-4 * numpy.abs(expected).max()


@pytest.mark.parametrize("verb, option", [("show", "--runs"), ("profile", "--top"), ("show", "--key"), ("profile", "--master")])
def test_options_of_other_verbs(programs, fashion, verb, option):
    ended = model(programs, verb, fashion, f"{option}=1")
    assert (ended.code, ended.err) == (2, f"dls-submit: {option} is not an option of model {verb}\n")
