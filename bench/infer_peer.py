"""Another engine as a process of its own, which bench/infer.py tells what to do: a JSON line in, a JSON line out.

usage: infer_peer.py onnxruntime|openvino|openvino_streams|sgemm THREADS

Between commands nothing runs. `sgemm` is numpy's OpenBLAS, which says what the machine can do: its "item" is one
multiplication of two matrices.
"""

import json
import sys
import time

import numpy

SIDE = 2048  # of the matrices


class OnnxRuntime:
    def __init__(self, threads):
        import onnxruntime

        self.library, self.threads = onnxruntime, threads

    def load(self, path, batch):
        options = self.library.SessionOptions()
        options.intra_op_num_threads = self.threads
        options.log_severity_level = 3
        options.add_free_dimension_override_by_name("N", batch)
        self.session = self.library.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self.port = self.session.get_inputs()[0]
        return [batch, *self.port.shape[1:]]

    def run(self, array):
        return self.session.run(None, {self.port.name: array})

    def repeat(self, array, milliseconds):
        begin, runs = time.perf_counter(), 0
        while not runs or time.perf_counter() - begin < milliseconds / 1000:
            self.run(array)
            runs += 1
        return runs, time.perf_counter() - begin


class OpenVino(OnnxRuntime):
    """With hint LATENCY: one request that all threads work on."""

    hint = "LATENCY"
    streams = 1

    def __init__(self, threads):
        import openvino

        self.library, self.threads = openvino, threads

    def load(self, path, batch):
        core = self.library.Core()
        model = core.read_model(path)
        shape = [batch, *(size.get_length() for size in list(model.inputs[0].partial_shape)[1:])]
        model.reshape(shape)
        self.compiled = core.compile_model(model, "CPU", {
            "INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": self.hint, "INFERENCE_NUM_THREADS": self.threads,
            "NUM_STREAMS": self.streams})
        self.request = self.compiled.create_infer_request()
        return shape

    def run(self, array):
        self.request.infer([array], share_inputs=True)
        return [output.data.copy() for output in self.request.output_tensors]

    def repeat(self, array, milliseconds):
        begin, runs = time.perf_counter(), 0
        while not runs or time.perf_counter() - begin < milliseconds / 1000:
            self.request.infer([array], share_inputs=True, share_outputs=True)
            runs += 1
        return runs, time.perf_counter() - begin


class OpenVinoStreams(OpenVino):
    """With hint THROUGHPUT: a stream per thread, and as many requests at once as OpenVINO asks for."""

    hint = "THROUGHPUT"

    def __init__(self, threads):
        super().__init__(threads)
        self.streams = threads

    def repeat(self, array, milliseconds):
        requests = self.compiled.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS")
        queue = self.library.AsyncInferQueue(self.compiled, requests)
        begin, runs = time.perf_counter(), 0
        while runs < requests or time.perf_counter() - begin < milliseconds / 1000:
            queue.start_async([array], share_inputs=True)
            runs += 1
        queue.wait_all()
        return runs, time.perf_counter() - begin


class Sgemm(OnnxRuntime):
    """Threads are those of OPENBLAS_NUM_THREADS."""

    def __init__(self, threads):
        pass

    def load(self, path, batch):
        return [SIDE, SIDE]

    def run(self, array):
        return [array @ array]


KINDS = {"onnxruntime": OnnxRuntime, "openvino": OpenVino, "openvino_streams": OpenVinoStreams, "sgemm": Sgemm}


def main():
    engine = KINDS[sys.argv[1]](int(sys.argv[2]))
    array = None
    print(json.dumps({}), flush=True)
    for line in sys.stdin:
        command = json.loads(line)
        if "load" in command:
            begin = time.perf_counter()
            shape = engine.load(command["load"], command["batch"])
            spent = time.perf_counter() - begin
            array = numpy.random.default_rng(1).standard_normal(shape, numpy.float32)
            begin = time.perf_counter()
            outputs = engine.run(array)
            answer = {"seconds": spent + time.perf_counter() - begin}
            if command.get("outputs"):
                numpy.savez(command["outputs"], array, *outputs)
        else:
            runs, seconds = engine.repeat(array, command["milliseconds"])
            answer = {"runs": runs, "seconds": seconds}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
