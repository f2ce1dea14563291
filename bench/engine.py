"""Items a second of the two models of the quickstarts, ours beside ONNX Runtime's: the two take turns, so that what else
the machine does hits both. One JSON line per model, batch size and engine; a value is the median of rounds of which each
is a median itself. Both engines use all cores unless THREADS says how many. OpenMP's threads spin no longer than in the
programs."""

import json
import os
import pathlib
import subprocess
import time

import numpy
import onnxruntime

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOL = pathlib.Path(os.environ.get("BUILD", ROOT / "build")) / "bench/engine_tool"
MODELS = {"fashion": ROOT / "examples/fashion", "efficientnet-lite0": ROOT / "build/cache/models/efficientnet-lite0"}
BATCHES, ROUNDS, SECONDS = (1, 32), 3, 2
THREADS = int(os.environ.get("THREADS", 0))
SPINS = "1000"  # of cli/threads.c


def time_ours(path, batch):
    threads = {"OMP_NUM_THREADS": str(THREADS)} if THREADS else {}
    done = subprocess.run([TOOL, path, str(batch), str(SECONDS)], capture_output=True, text=True, check=True,
                          env={"GOMP_SPINCOUNT": SPINS} | os.environ | threads)
    return json.loads(done.stdout)["seconds"]


def time_theirs(path, batch):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    port = session.get_inputs()[0]
    feeds = {port.name: numpy.random.default_rng(1).random((batch, *port.shape[1:]), numpy.float32)}
    session.run(None, feeds)
    times, end = [], time.monotonic() + SECONDS
    while len(times) < 3 or time.monotonic() < end:
        begin = time.perf_counter()
        session.run(None, feeds)
        times.append(time.perf_counter() - begin)
    return float(numpy.median(times))


def tell(figure, batch, seconds, peer):
    rates = [round(batch / each, 1) for each in seconds]
    print(json.dumps({"figure": figure, "value": float(numpy.median(rates)), "min": min(rates), "max": max(rates),
                      "unit": "images/s", "better": "higher", "goal": None, "peer": peer}), flush=True)


def main():
    for name, folder in MODELS.items():
        if not folder.is_dir():
            print(json.dumps({"figure": f"engine.{name}", "skipped": f"{folder} is not made yet"}))
            continue
        for batch in BATCHES:
            rounds = [(time_ours(folder / "model.onnx", batch), time_theirs(folder / "model.onnx", batch))
                      for _ in range(ROUNDS)]
            ours, theirs = zip(*rounds)
            tell(f"engine.{name}.batch{batch}", batch, ours, "onnxruntime")
            tell(f"engine.{name}.batch{batch}.onnxruntime", batch, theirs, None)


if __name__ == "__main__":
    main()
