"""What ONNX Runtime and Pillow see in the photos of the quickstart."""

import json

import numpy
from PIL import Image

# the first classes of each, and the probability of the first
SEEN = {
    "chelsea.png": ([282, 285, 281], 0.38),  # tiger cat, Egyptian cat, tabby
    "coffee.png": ([967], 0.96),  # espresso
    "rocket.jpg": ([657, 744], 0.38),  # missile, projectile
    "motorcycle_left.png": ([665], 0.50),  # moped
    "camera.png": ([872], 0.94),  # tripod; the photo is grey
}


def preprocess(path, folder):
    """A photo as the input of the model in `folder`, as its model.json says, by Pillow. A pixel matters: with the crop one
    pixel to the right, the moped has a probability of 0.58 and not 0.50."""
    spec = json.loads((folder / "model.json").read_text())["inputs"]["input"]
    image = Image.open(path).convert("RGB")
    shorter = spec["resize"]["shorter"]
    image = image.resize([round(side * shorter / min(image.size)) for side in image.size], Image.BILINEAR)
    height, width = spec["crop"]
    left, top = (image.width - width) // 2, (image.height - height) // 2
    pixels = numpy.asarray(image.crop((left, top, left + width, top + height)), numpy.float32)
    values = (pixels * spec["scale"] - numpy.float32(spec["mean"])) / numpy.float32(spec["std"])
    return values.transpose(2, 0, 1)
