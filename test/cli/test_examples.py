"""The programs in examples/ do what their first comment says."""

import signal

from PIL import Image


def test_all_in_one(programs):
    ended = programs.run("examples/all_in_one")
    assert ended.code == 0, ended.err
    assert ended.out.splitlines()[-1] == "6171 takes the most steps: 261"


def test_worker_with_a_handler(programs, tmp_path):
    master = programs.master()
    worker = programs.start("examples/worker_handler", master.endpoint)
    (tmp_path / "poem").write_text("one two\nthree\n")
    (tmp_path / "empty").write_text("")
    ended = programs.submit(master, "run", "--json", "--handler", "count-words", tmp_path / "poem", tmp_path / "empty")
    assert ended.code == 0, ended.err
    assert [item["outputs"][0]["values"] for item in ended.items()] == [[2, 3, 14], [0, 0, 0]]
    worker.signal(signal.SIGINT)
    assert worker.finish(5).code == 0


def test_submit(programs, fashion, fashion_pictures, tmp_path):
    data = (fashion_pictures / "t10k-images-idx3-ubyte").read_bytes()[16 : 16 + 28 * 28]
    Image.frombytes("L", (28, 28), data).save(tmp_path / "boot.png")
    (tmp_path / "note.png").write_text("no picture")
    master = programs.master()
    programs.worker(master, "w1")
    ended = programs.run("examples/submit", master.endpoint, fashion, tmp_path / "boot.png", tmp_path / "note.png")
    assert ended.code == 0, ended.err
    first, second = ended.out.splitlines()
    assert first.startswith(f"{tmp_path}/boot.png: Ankle boot ")
    assert second.startswith(f"{tmp_path}/note.png: ")


def test_run_model(programs, root, fashion, fashion_pictures, tmp_path):
    data = (fashion_pictures / "t10k-images-idx3-ubyte").read_bytes()[16:]
    for number in range(2):
        Image.frombytes("L", (28, 28), data[number * 784 : number * 784 + 784]).save(tmp_path / f"{number}.png")
    ended = programs.run("examples/run_model", fashion, tmp_path / "0.png", tmp_path / "1.png")
    assert ended.code == 0, ended.err
    assert [line.rsplit(" ", 1)[0] for line in ended.out.splitlines()] == ["Ankle boot", "Pullover"]
    mnist = root / "test/models/data/mnist"
    ended = programs.run("examples/run_model", mnist / "model.onnx", mnist / "test_data_set_0/input_0.pb")
    assert ended.code == 0 and ended.out.startswith("element 2 is the largest: 657")
    ended = programs.run("examples/run_model", fashion, tmp_path / "2.png")
    assert ended.code == 4 and ended.err.startswith(f"run_model: cannot open {tmp_path}/2.png")


def test_usage(programs):
    for name in ("submit", "worker_handler", "run_model"):
        ended = programs.run(f"examples/{name}")
        assert (ended.code, ended.err.startswith(f"usage: {name}")) == (2, True)
