#!/usr/bin/env python3
"""Says what is in photos: classify.py MASTER MODEL_FOLDER PHOTO..."""

import pathlib
import sys

import dlsched


def main(master, folder, *photos):
    labels = (pathlib.Path(folder) / "labels.txt").read_text().splitlines()
    with dlsched.Client(master) as client:
        client.wait(timeout=10)
        job = client.job(model=folder)
        for photo in photos:
            job.add_file(photo)
        for result in job.submit():
            print(photos[result.item], end=": ")
            if result.error:
                print(result.error)
                continue
            (output,) = result.outputs
            print(", ".join(f"{labels[i]} {p:.2f}" for i, p in zip(output.indices, output.values)))


if __name__ == "__main__":
    main(*sys.argv[1:])
