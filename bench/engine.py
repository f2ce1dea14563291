"""Items a second of the two models of the quickstarts, ours beside ONNX Runtime's: the two take turns, so that what else
the machine does hits both. One JSON line per model, batch size and engine.

`median` is what one gets while others use the machine too, `best` what the engine can do. Both engines use all cores
unless THREADS says how many."""

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


def time_ours(path, batch):
    threads = {"OMP_NUM_THREADS": str(THREADS)} if THREADS else {}
    done = subprocess.run([TOOL, path, str(batch), str(SECONDS)], capture_output=True, text=True, check=True,
                          env=os.environ | threads)
    line = json.loads(done.stdout)
    return line["seconds"], line["best_seconds"]


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
    return float(numpy.median(times)), min(times)


def main():
    for name, folder in MODELS.items():
        if not folder.is_dir():
            print(json.dumps({"bench": "engine", "model": name, "skipped": f"{folder} is not made yet"}))
            continue
        for batch in BATCHES:
            rounds = [(time_ours(folder / "model.onnx", batch), time_theirs(folder / "model.onnx", batch))
                      for _ in range(ROUNDS)]
            for side, engine in enumerate(("dlsched", "onnxruntime")):
                median = float(numpy.median([each[side][0] for each in rounds]))
                best = min(each[side][1] for each in rounds)
                print(json.dumps({"bench": "engine", "model": name, "batch": batch, "engine": engine,
                                  "threads": THREADS or os.cpu_count(), "median": round(batch / median, 1),
                                  "best": round(batch / best, 1), "unit": "items/s"}), flush=True)


if __name__ == "__main__":
    main()
