"""ONNX Runtime as the second implementation, and what equal means."""

import numpy
import onnxruntime


def reference(model, feeds):
    """What ONNX Runtime gives, as it is and without its own rewriting."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return session.run(None, feeds)


def assert_equal(ours, theirs):
    """Equal as the library promises: max |a - b| at most 1e-4 times max |b| per output."""
    for a, b in zip(ours, theirs, strict=True):
        assert a.shape == b.shape
        assert numpy.abs(a - b).max() <= 1e-4 * numpy.abs(b).max()
