"""Photos of every kind: what must work, and what fails alone with a sentence that names it."""

import numpy
import pytest
from PIL import Image

SIDE = 28


@pytest.fixture
def picture(fashion_pictures):
    """One of the clothing pictures, large enough that nothing of it is lost in a JPEG."""
    data = numpy.fromfile(fashion_pictures / "t10k-images-idx3-ubyte", numpy.uint8, offset=16)
    return Image.fromarray(data[: SIDE * SIDE].reshape(SIDE, SIDE)).resize((224, 224), Image.NEAREST)


def best(item):
    return item["outputs"][0]["classes"][0]


def test_one_picture_in_every_form(programs, fashion, picture, tmp_path):
    picture.save(tmp_path / "grey.png")
    picture.convert("RGB").save(tmp_path / "rgb.png")
    picture.convert("RGBA").save(tmp_path / "alpha.png")
    picture.convert("P").save(tmp_path / "palette.png")
    picture.save(tmp_path / "grey.jpg", quality=100)
    exif = Image.Exif()
    exif[0x0112] = 6  # to be seen upright, turn clockwise
    picture.rotate(90, expand=True).save(tmp_path / "turned.jpg", quality=100, exif=exif)
    Image.fromarray(numpy.asarray(picture, numpy.uint16) * 257).save(tmp_path / "deep.png")
    picture.convert("RGB").convert("CMYK").save(tmp_path / "print.jpg", quality=100)
    names = [path.name for path in tmp_path.glob("*.[pj][np]g")]
    assert len(names) == 8

    ended = programs.local("--json", fashion, *(tmp_path / name for name in names))

    assert ended.code == 0, ended.err + ended.out
    for item in ended.items():
        assert best(item)["label"] == "Ankle boot", item["input"]
        assert best(item)["value"] == pytest.approx(best(ended.items()[0])["value"], abs=0.02), item["input"]


def bad_files(folder, picture):
    """name -> a file that cannot become an input."""
    files = {name: folder / name for name in ("text.jpg", "empty.png", "truncated.jpg", "truncated.png", "zero.png")}
    files["text.jpg"].write_text("not a picture\n" * 10)
    files["empty.png"].write_bytes(b"")
    for name in ("truncated.jpg", "truncated.png"):
        picture.save(files[name])
        files[name].write_bytes(files[name].read_bytes()[:600])
    picture.save(files["zero.png"])
    whole = bytearray(files["zero.png"].read_bytes())
    whole[16:24] = bytes(8)  # width and height in the header; its checksum is wrong then too
    files["zero.png"].write_bytes(whole)
    return files


def test_bad_files_fail_alone(programs, fashion, picture, tmp_path):
    files = bad_files(tmp_path, picture)
    picture.save(tmp_path / "good.png")

    ended = programs.local("--json", fashion, *files.values(), tmp_path / "good.png")

    assert ended.code == 1, ended.err
    items = ended.items()
    assert len(items) == len(files) + 1
    for name, item in zip(files, items):
        assert item["input"].endswith(name)
        assert item.get("error", "").startswith("DLS_E"), item
        assert item["text"], item
    assert "outputs" in items[-1]
    assert (ended.summary()["items"], ended.summary()["failed"]) == (len(files) + 1, len(files))


def test_truncated_photo_of_skimage(programs, fashion, photos):
    ended = programs.local("--json", fashion, photos.with_name("photos-bad") / "truncated.jpg")
    assert ended.code == 1
    assert "error" in ended.items()[0]


def test_table_shows_what_failed(programs, fashion, picture, tmp_path):
    bad = bad_files(tmp_path, picture)["text.jpg"]
    ended = programs.local(fashion, bad)
    assert ended.code == 1
    assert "text.jpg" in ended.out and "failed" in ended.out


def test_missing_file_is_refused_before_anything_runs(programs, fashion, tmp_path):
    ended = programs.local(fashion, tmp_path / "none.png")
    assert (ended.code, ended.out) == (4, "")
    assert "none.png" in ended.err


def test_folder_is_no_photo(programs, fashion, tmp_path):
    ended = programs.local(fashion, tmp_path)
    assert (ended.code, ended.out) == (4, "")
    assert str(tmp_path) in ended.err


def test_array_of_another_shape(programs, fashion, tmp_path):
    numpy.save(tmp_path / "wide.npy", numpy.zeros((1, 28, 30), numpy.float32))
    ended = programs.local("--json", fashion, tmp_path / "wide.npy")
    assert ended.code == 1
    text = ended.items()[0]["text"]
    assert "30" in text and "28" in text
