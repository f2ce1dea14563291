"""Models in the program itself: what they say of themselves, what they give, and what goes wrong, as exceptions."""

import array
import gc
import os
import threading

import numpy
import onnx
import onnxruntime
import pytest
from common import ROOT

import dlsched
from dlsched import errors

FASHION = ROOT / "examples/fashion"
MNIST = ROOT / "test/models/data/mnist"


@pytest.fixture
def fashion():
    with dlsched.Model(FASHION) as model:
        yield model


@pytest.fixture
def pair(tmp_path):
    """sum = a + b and difference = a - b, whose batch may be any: the path of the file."""
    ports = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["N", 3]) for name in ("a", "b", "sum", "difference")]
    nodes = [onnx.helper.make_node("Add", ["a", "b"], ["sum"]), onnx.helper.make_node("Sub", ["a", "b"], ["difference"])]
    graph = onnx.helper.make_graph(nodes, "pair", ports[:2], ports[2:])
    path = tmp_path / "pair.onnx"
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8), path)
    return path


def pictures(count):
    return numpy.random.default_rng(1).random((count, 1, 28, 28), numpy.float32)


def test_says_what_it_takes_and_gives(fashion):
    assert fashion.inputs == [dlsched.Port("input", "float32", (None, 1, 28, 28), "image")]
    assert fashion.outputs == [dlsched.Port("output", "float32", (None, 10), "classes")]
    assert fashion.labels == (FASHION / "labels.txt").read_text().splitlines()
    assert (fashion.batchable, fashion.unbatchable) == (True, None)
    with dlsched.Model(str(FASHION / "model.onnx")) as alone:
        assert ([port.kind for port in alone.inputs], alone.labels) == (["tensor"], [])


def test_says_why_items_run_alone(tmp_path):
    port = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [4]) for name in "xy"]
    graph = onnx.helper.make_graph([onnx.helper.make_node("Relu", ["x"], ["y"])], "g", port[:1], port[1:])
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8), tmp_path / "m.onnx")
    with dlsched.Model(tmp_path / "m.onnx") as model:
        assert (model.batchable, "x" in model.unbatchable) == (False, True)
        assert model(numpy.float32([-1, 0, 1, 2])).tolist() == [0, 0, 1, 2]


@pytest.mark.parametrize("batch", [1, 3, 8])
def test_gives_what_onnx_runtime_gives(fashion, batch):
    session = onnxruntime.InferenceSession(FASHION / "model.onnx", providers=["CPUExecutionProvider"])
    expected = session.run(None, {"input": pictures(batch)})[0]
    found = fashion(pictures(batch))
    assert (found.dtype, found.shape) == (numpy.float32, (batch, 10))
    assert numpy.abs(found - expected).max() <= 1e-4 * numpy.abs(expected).max()
    for other in (fashion.run([pictures(batch)]), fashion.run({"input": pictures(batch)})):
        assert len(other) == 1 and (other[0] == found).all()


def test_no_items_have_no_rows(fashion):
    assert fashion(pictures(2)[:0]).shape == (0, 10)


def test_several_inputs_and_outputs(pair):
    a, b = numpy.float32([[1, 2, 3], [4, 5, 6]]), numpy.float32([[10, 20, 30], [40, 50, 60]])
    with dlsched.Model(pair) as model:
        total, difference = model(a, b)
        assert (total == a + b).all() and (difference == a - b).all()
        assert (model.run({"b": b, "a": a})[1] == a - b).all()
        assert [output.tolist() for output in model.run([a, b])] == [(a + b).tolist(), (a - b).tolist()]


def test_what_counts_as_an_array(pair):
    """Lists, buffers, arrays that do not lie dense, and those of the other byte order."""
    a = numpy.float32([[1, 2, 3]])
    buffer = memoryview(array.array("f", [1, 2, 3])).cast("B").cast("f", [1, 3])
    transposed = numpy.asfortranarray(numpy.float32([[1, 2, 3], [4, 5, 6]]))
    with dlsched.Model(pair) as model:
        for b in ([[1, 2, 3]], [[1.0, 2.0, 3.0]], buffer, a.astype(">f4")):
            assert model(a, b)[0].tolist() == [[2, 4, 6]]
        assert model(transposed, transposed)[0].tolist() == [[2, 4, 6], [8, 10, 12]]


def test_results_outlive_the_model(pair):
    with dlsched.Model(pair) as model:
        outputs = [model.run([numpy.full((1, 3), number, numpy.float32)] * 2)[0] for number in range(50)]
    del model
    gc.collect()
    assert [output[0, 0] for output in outputs] == [2 * number for number in range(50)]


def test_reads_files(fashion, tmp_path):
    from PIL import Image

    pixels = numpy.random.default_rng(2).integers(0, 256, (28, 28), numpy.uint8)
    Image.fromarray(pixels).save(tmp_path / "picture.png")
    numpy.save(tmp_path / "items.npy", pictures(2))
    found = fashion.read(tmp_path / "picture.png", str(tmp_path / "items.npy"))
    assert found.shape == (3, 1, 28, 28) and (found[1:] == pictures(2)).all()
    assert fashion(found).shape == (3, 10)
    with dlsched.Model(MNIST) as mnist:
        for number in range(3):
            data = MNIST / f"test_data_set_{number}"
            expected = onnx.numpy_helper.to_array(onnx.load_tensor(data / "output_0.pb"))
            assert numpy.abs(mnist(mnist.read(data / "input_0.pb")) - expected).max() <= 1e-4 * numpy.abs(expected).max()
    with pytest.raises(FileNotFoundError, match="none.npy"):
        fashion.read(tmp_path / "none.npy")
    with pytest.raises(ValueError, match="none of number 1"):
        fashion.read(tmp_path / "items.npy", input=1)
    with pytest.raises(ValueError, match="1 to 4096 files, not 0"):
        fashion.read()


def test_profiles(fashion):
    found = fashion.profile(batch=2, runs=3)
    assert (found["batch"], found["runs"]) == (2, 3)
    assert {"Conv", "Gemm", "Softmax"} <= {node["operator"] for node in found["nodes"]}
    assert fashion.profile([pictures(5)], runs=1)["batch"] == 5
    with dlsched.Model(FASHION, threads=1) as alone:
        assert alone.profile(runs=1)["threads"] == 1
    with pytest.raises(ValueError, match="1 to 1000 runs, not 0"):
        fashion.profile(runs=0)


def test_sizes_that_the_file_leaves_open(tmp_path):
    """Each run brings its own; whether items can run together only a run tells."""
    ports = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["N", "T"]) for name in "xy"]
    graph = onnx.helper.make_graph([onnx.helper.make_node("Relu", ["x"], ["y"])], "g", ports[:1], ports[1:])
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8), tmp_path / "m.onnx")
    with dlsched.Model(tmp_path / "m.onnx") as model:
        assert (model.inputs[0].dims, model.batchable, model.unbatchable) == ((None, None), None, None)
        for shape in ((1, 4), (3, 2), (2, 5)):
            x = numpy.random.default_rng(3).standard_normal(shape, numpy.float32)
            assert (model(x) == numpy.maximum(x, 0)).all()
        assert model.profile([numpy.ones((2, 3), numpy.float32)], runs=1)["nodes"][0]["operator"] == "Relu"


def test_the_threads_that_are_asked_for():
    with dlsched.Model(FASHION, threads=3) as model:
        assert model.profile(runs=1)["threads"] == 3
    with pytest.raises(ValueError, match="1025 threads; a model may run on from 1 to 1024"):
        dlsched.Model(FASHION, threads=1025)


def test_what_is_not_there_is_a_file_not_found(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        dlsched.Model(tmp_path / "no model")
    assert isinstance(caught.value, errors.ENOTFOUND)
    assert str(tmp_path / "no model") in str(caught.value)


def test_what_is_no_model_says_so(tmp_path):
    (tmp_path / "text.onnx").write_text("This is none.")
    with pytest.raises(errors.EFORMAT, match="text.onnx: not a whole ONNX file"):
        dlsched.Model(tmp_path / "text.onnx")


@pytest.mark.parametrize(
    "arrays, sentence",
    [
        ([], "the model has 1 inputs, and 0 tensors were given"),
        ([pictures(1), pictures(1)], "the model has 1 inputs, and 2 tensors were given"),
        ([pictures(1).astype(float)], "the input 'input' is float64"),
        ([pictures(1)[0]], r"the model takes float32 \[1, 1, 28, 28\]"),
        ([pictures(1).astype(complex)], "elements of type complex128, which cannot be sent"),
        ({"output": pictures(1)}, "the model's inputs are input, not output"),
        ({}, "the model's inputs are input, not "),
    ],
)
def test_inputs_that_do_not_fit_are_value_errors(fashion, arrays, sentence):
    with pytest.raises(ValueError, match=sentence):
        fashion.run(arrays)
    assert fashion(pictures(1)).shape == (1, 10)  # it goes on


def test_threads_share_a_model(fashion):
    expected = [fashion(pictures(4) * number) for number in range(4)]
    wrong = []

    def work(number):
        for _ in range(20):
            if not (fashion(pictures(4) * number) == expected[number]).all():
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_forked_child_is_told(fashion):
    """It has none of the threads; its parent's model goes on."""
    fashion(pictures(1))
    child = os.fork()
    if not child:
        try:
            fashion(pictures(1))
        except errors.EFORK:
            os._exit(7)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert fashion(pictures(1)).shape == (1, 10)


def test_a_closed_model_says_so(fashion):
    fashion.close()
    fashion.close()
    with pytest.raises(errors.ESTATE, match="this Model is closed"):
        fashion(pictures(1))
