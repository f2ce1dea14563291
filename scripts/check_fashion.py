#!/usr/bin/python3
"""Compares the answers of the clothing model for the 10,000 test pictures with the labels and with the expected answers.

usage: check_fashion.py ANSWERS.npy LABELS EXPECTED.npy NANOSECONDS

ANSWERS is one class per picture; LABELS is the idx file of the right classes; EXPECTED is what ONNX Runtime answers;
NANOSECONDS is how long the job took. Exits with 1 if an answer is not the expected one.
"""

import sys

import numpy

LABELS_HEADER_BYTES = 8


def main(answers_path, labels_path, expected_path, nanoseconds):
    answers = numpy.load(answers_path)
    labels = numpy.fromfile(labels_path, numpy.uint8, offset=LABELS_HEADER_BYTES)
    expected = numpy.load(expected_path)
    if answers.shape != expected.shape:
        sys.exit(f"check_fashion: {answers_path} holds answers of shape {answers.shape} for {len(expected)} pictures")
    right = int((answers == labels).sum())
    differ = numpy.flatnonzero(answers != expected)
    seconds = int(nanoseconds) / 1e9
    print(f"accuracy: {right:,} of {len(labels):,} right ({right / len(labels):.2%})")
    print(f"speed: {len(labels) / seconds:,.0f} images per second ({seconds:.2f} s from submission to the last answer)")
    print(f"answers that differ from ONNX Runtime's: {len(differ)}")
    if len(differ):
        sys.exit(f"check_fashion: picture {differ[0]} is class {answers[differ[0]]}, expected {expected[differ[0]]}")


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
