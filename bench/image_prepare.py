"""Photos to tensors per second on one thread, beside Pillow with numpy doing the same, in turns.

One JSON line per kind of file. The photo is 500 x 375, as most of ImageNet's are; shorter side to 256, crop 224, float32.
"""

import io
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import numpy
import PIL
from PIL import Image

ROUNDS, SECONDS = 7, 0.5
TOOL = pathlib.Path(os.environ.get("BUILD", pathlib.Path(__file__).parent.parent / "build")) / "bench/image_prepare_tool"


def make_photo():
    """Soft shapes with a little grain: a file of about the size that a real photo has."""
    rng = numpy.random.default_rng(1)
    shapes = Image.fromarray(rng.integers(0, 256, (12, 16, 3), numpy.uint8)).resize((500, 375), Image.Resampling.BICUBIC)
    grain = rng.normal(0, 4, (375, 500, 3))
    return Image.fromarray(numpy.clip(numpy.asarray(shapes) + grain, 0, 255).astype(numpy.uint8))


def prepare(data):
    image = Image.open(io.BytesIO(data)).convert("RGB")
    short, long = sorted(image.size)
    new = 256 * long // short
    image = image.resize((256, new) if image.width <= image.height else (new, 256), Image.Resampling.BILINEAR)
    left, top = round((image.width - 224) / 2), round((image.height - 224) / 2)
    values = numpy.asarray(image.crop((left, top, left + 224, top + 224)), numpy.float32)
    return numpy.ascontiguousarray(((values - 127) / 128).transpose(2, 0, 1))


def pillows(data):
    begin, count = time.perf_counter(), 0
    while time.perf_counter() - begin < SECONDS:
        prepare(data)
        count += 1
    return count / (time.perf_counter() - begin)


def ours(path):
    return float(subprocess.run([TOOL, path, str(SECONDS)], check=True, capture_output=True).stdout)


def tell(figure, rates, peer):
    print(json.dumps({"figure": figure, "value": round(statistics.median(rates)), "min": round(min(rates)),
                      "max": round(max(rates)), "unit": "images/s", "better": "higher", "goal": None, "peer": peer}),
          flush=True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for kind, options in [("jpeg", {"quality": 90}), ("png", {})]:
            path = pathlib.Path(folder) / f"photo.{kind}"
            make_photo().save(path, **options)
            pairs = [(ours(path), pillows(path.read_bytes())) for _ in range(ROUNDS)]
            tell(f"image_prepare_per_second.{kind}", [our for our, _ in pairs], f"Pillow {PIL.__version__}")
            tell(f"image_prepare_per_second.{kind}.pillow", [peer for _, peer in pairs], None)


if __name__ == "__main__":
    main()
