"""The engine beside ONNX Runtime and OpenVINO: same machine, same weights, same batch size and threads, float32, in turns. One
JSON line per figure; `make bench-infer` runs it.

Environment: MODELS, BATCHES and THREADS choose among what is measured, as in MODELS="alexnet googlenet" BATCHES="1 32";
TURN_MS is how long each engine works in its turn and ROUNDS how many turns it has.

Beside each rate by the clock stands that by the processor time which all threads of the engine used, which says more where others
use the machine too.

A rate is the median of an engine's turns, a ratio that of two medians; min and max are the smallest and the largest ratio of a
round. OpenVINO runs with its latency hint and with its throughput hint and one stream per thread, the library with a team of
threads and (in `vs_best` only) with one process per thread; the better one counts.
"""

import json
import os
import statistics
import sys
import time

import infer_engines
import infer_models
import isa
import numpy
from figures import skip, tell, tell_ratio, tell_values
from infer_engines import Refused

AGAINST_BEST = {"alexnet": 1.2, "googlenet": 1.2, "resnet50": 1.2, "squeezenet": 1.1, "efficientnet_lite0": 1.1}
AGAINST_ONNXRUNTIME = ("shufflenet", "densenet121", "vgg19", "mnist", "ultraface")
ERROR_GOAL = 1e-4
ROUNDS_LEAST, POINT_SECONDS = 3, 40  # fewer rounds than ROUNDS where they take longer than this
LOAD_ROUNDS = 5
MEMORY_BATCH = 32


def chosen(name, default):
    return os.environ.get(name, default).split()


MODELS = chosen("MODELS", " ".join((*AGAINST_BEST, *AGAINST_ONNXRUNTIME)))
BATCHES = [int(word) for word in chosen("BATCHES", "1 8 32")]
THREADS = [int(word) for word in chosen("THREADS", "1 2")]
TURN_MS = int(os.environ.get("TURN_MS", 400))
ROUNDS = int(os.environ.get("ROUNDS", 5))


def instruction_set():
    names = isa.of_machine()
    held = os.environ.get("DLS_ISA")
    return held if held in names else names[-1]


def take_turn(engine):
    """Items a second, and items a second of processor time."""
    before = infer_engines.processor_seconds(engine.pids())
    parts = engine.work(TURN_MS)
    used = infer_engines.processor_seconds(engine.pids()) - before
    return sum(items / seconds for items, seconds in parts), sum(items for items, _ in parts) / used


def take_turns(engines):
    """Rates by kind, one per round: by the clock, and by processor time."""
    rates, busy, begin = {kind: [] for kind in engines}, {kind: [] for kind in engines}, time.monotonic()
    for number in range(ROUNDS):
        for kind, engine in engines.items():
            infer_engines.settle(engines.values())
            rate, busy_rate = take_turn(engine)
            rates[kind].append(rate)
            busy[kind].append(busy_rate)
        if number + 1 >= ROUNDS_LEAST and time.monotonic() - begin > POINT_SECONDS:
            break
    return rates, busy


def best(rates, kinds):
    return max((kind for kind in kinds if kind in rates), key=lambda kind: statistics.median(rates[kind]))


def tell_point(name, batch, threads, rates, busy):
    point = f"infer.{name}.b{batch}.t{threads}"
    operations = infer_models.count_operations(name)
    product = 2 * infer_engines.MATRIX_SIDE**3
    peak = [rate * product for rate in rates["sgemm"]]
    tell_values(f"{point}.sgemm", [rate / 1e9 for rate in peak], "GFLOP/s", "higher",
                per_processor_second=round(statistics.median(busy["sgemm"]) * product / 1e9, 2))
    for kind in rates:
        if kind != "sgemm":
            share = statistics.median(rates[kind]) * operations / statistics.median(peak)
            tell_values(f"{point}.{kind}", rates[kind], "images/s", "higher", peak_share=round(share, 3),
                        per_processor_second=round(statistics.median(busy[kind]), 2))
    if "ours" not in rates:
        return
    peer = best(rates, ("onnxruntime", "openvino", "openvino_streams"))
    if name in AGAINST_BEST:
        ours = best(rates, ("ours", "ours_streams"))
        tell_ratio(f"{point}.vs_best", rates[ours], rates[peer], AGAINST_BEST[name], peer=peer, by=ours)
    else:
        tell_ratio(f"{point}.vs_ort", rates["ours"], rates["onnxruntime"], 1.0, peer="onnxruntime")
    if (name, batch, threads) == ("alexnet", 32, 2):
        tell_ratio(f"{point}.peak", [rate * operations for rate in rates["ours"]], peak, 1.0, peer="sgemm")


def measure_error(ours, peer, name, batch):
    """max |a - b| over max |b| of the outputs, both engines loaded with this batch size."""
    _, expected = peer.input_and_outputs(infer_models.for_peers(name), batch)
    return max(float(numpy.abs(a - b).max() / numpy.abs(b).max()) for a, b in zip(ours.outputs, expected, strict=True))


def measure_speed(name, threads, refusal):
    """The errors of the batch sizes."""
    kinds = ["ours", "ours_streams", "onnxruntime", "openvino", "openvino_streams", "sgemm"]
    if threads == 1:
        kinds.remove("ours_streams")  # the same as one team of one
    if refusal:
        kinds = [kind for kind in kinds if not kind.startswith("ours")]
    engines, errors = {kind: infer_engines.make(kind, threads) for kind in kinds}, []
    try:
        for batch in BATCHES:
            for kind, engine in engines.items():
                engine.load(infer_engines.file_for(kind, name), 1 if kind == "sgemm" else batch)
            if not refusal:
                errors.append(measure_error(engines["ours"], engines["onnxruntime"], name, batch))
            tell_point(name, batch, threads, *take_turns(engines))
    finally:
        for engine in engines.values():
            engine.close()
    return errors


def measure_load(name):
    """Load and first run of one item, then the most memory with a larger batch, of new processes in turns."""
    threads, path, seconds, bytes_ = max(THREADS), infer_models.find(name), {}, {}
    for _ in range(LOAD_ROUNDS):
        for kind in ("ours", "onnxruntime"):
            engine = infer_engines.make(kind, threads)
            before = infer_engines.memory(engine.pids()[0], "VmRSS")
            seconds.setdefault(kind, []).append(engine.load(path, 1))
            engine.load(infer_engines.file_for(kind, name), MEMORY_BATCH)
            bytes_.setdefault(kind, []).append(infer_engines.memory(engine.pids()[0], "VmHWM") - before)
            engine.close()
    for figure, values in (("load", seconds), ("memory", bytes_)):
        ours, theirs = statistics.median(values["ours"]), statistics.median(values["onnxruntime"])
        tell_ratio(f"infer.{figure}.{name}", values["ours"], values["onnxruntime"], 1.0, "lower", peer="onnxruntime",
                   ours=round(ours, 4), onnxruntime=round(theirs, 4))


def find_refusal(name):
    engine = infer_engines.make("ours", 1)
    try:
        engine.load(infer_models.find(name), 1)
    except Refused as refused:
        return str(refused)
    finally:
        engine.close()


def main():
    unknown = set(MODELS) - set(infer_models.NAMES)
    if unknown:
        sys.exit(f"infer: there is no model {min(unknown)}; there are {', '.join(infer_models.NAMES)}")
    print(json.dumps({"figure": "infer.machine", "instruction_set": instruction_set(), "cores": os.cpu_count()}), flush=True)
    errors = []
    for name in MODELS:
        refusal = find_refusal(name)
        if refusal:
            skip(f"infer.{name}", refusal)
        for threads in THREADS:
            errors += measure_speed(name, threads, refusal)
        if not refusal:
            measure_load(name)
    if errors:
        tell("infer.error", max(errors), min(errors), max(errors), "ratio", "lower", ERROR_GOAL, "onnxruntime")


if __name__ == "__main__":
    main()
