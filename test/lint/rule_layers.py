#!/usr/bin/python3
"""Who may include whom: the rooms of lib/ are a stack of floors, nothing includes in a circle, each third-party library is met in
one place only, what differs between two versions of one is known to one file, and what is outside lib/ sees only the public
headers."""
import source

# A room includes itself and those of earlier floors, not its neighbours of the same floor (joined by "|"). The order has
# its reasons in docs/ARCHITECTURE.md.
FLOORS = "base proto core policy graph op reader rewrite kernel media device store net ha node model master|client|worker api".split()
FLOOR_OF = {room: number for number, floor in enumerate(FLOORS) for room in floor.split("|")}

# First letters of a library's headers, and the only files or folders of lib/ that include them.
LIBRARIES = {
    "dnnl": ["device/"],
    "hwloc": ["device/topology.c"],
    "jpeglib": ["media/"],
    "lauxlib": ["policy/script", "policy/lua.c"],
    "lua.h": ["policy/script", "policy/lua.c"],
    "lualib": ["policy/script_library.c"],
    "omp": ["kernel/parallel.c"],
    "onnx/": ["reader/"],
    "protobuf-c/": ["reader/"],
    "raft": ["ha/"],
    "sodium": ["base/hash.c", "base/random.c"],
    "spng": ["media/"],
    "zmq": ["net/"],
}

# What tells versions of a library apart, and the only file that may ask.
VERSIONS = {"DNNL_VERSION_": "lib/device/onednn_compat.h"}

STANDARD = {"stdbool.h", "stddef.h", "stdint.h"}  # all that public headers need of the C library


def library_rule(place, inside, name):
    for first, owners in LIBRARIES.items():
        if name.startswith(first) and not inside.startswith(tuple(owners)):
            yield f"{place}: <{name}> may be included only in lib/{' and lib/'.join(owners)}"


def lib_rule(root, path):
    room, inside = path.parts[1], "/".join(path.parts[1:])
    if len(path.parts) != 3 or room not in FLOOR_OF:
        yield f"{path}:1: it lies in none of the rooms {' '.join(FLOOR_OF)}"
        return
    listed = list(source.includes(source.read(root, path)))
    for line, name, quoted in listed:
        place, other = f"{path}:{line}", name.split("/")[0]
        yield from library_rule(place, inside, name)
        if name.startswith("onnx/"):
            continue
        if quoted and other not in FLOOR_OF:
            yield f'{place}: "{name}" does not begin with a room'
        elif quoted and other != room and FLOOR_OF[other] == FLOOR_OF[room]:
            yield f"{place}: {room}/ and {other}/ are on one floor and may not include each other"
        elif quoted and FLOOR_OF[other] > FLOOR_OF[room]:
            yield f"{place}: {room}/ comes before {other}/ and may not include it"
    own = path.with_suffix(".h")
    if path.suffix == ".c" and (source.pathlib.Path(root) / own).exists():
        if not listed or listed[0][1] != "/".join(own.parts[1:]):
            yield f"{path}:1: its own header comes first, which proves that it stands alone"


def version_rule(root, path):
    text = source.bare(source.read(root, path))
    for word, owner in VERSIONS.items():
        if word in text and str(path) != owner:
            yield f"{path}:{source.line_of(text, text.index(word))}: only {owner} asks for {word}*"


def outside_rule(root, path):
    for line, name, quoted in source.includes(source.read(root, path)):
        if path.parts[0] == "include":
            if not name.startswith("dlsched/") and name not in STANDARD:
                yield f"{path}:{line}: a public header includes public headers and {' '.join(sorted(STANDARD))} only"
        elif quoted and name.split("/")[0] != path.parts[0]:
            yield f'{path}:{line}: {path.parts[0]}/ sees include/ and itself only, not "{name}"'


def circles(root, paths):
    """One line for each circle of includes, found by walking depth first."""
    names = {"/".join(path.parts[1:]): path for path in paths}
    after = {path: [names[name] for _, name, _ in source.includes(source.read(root, path)) if name in names]
             for path in paths}
    done, trail = set(), []

    def walk(path):
        if path in trail:
            circle = trail[trail.index(path):] + [path]
            yield f"{path}:1: includes in a circle: {' -> '.join(map(str, circle))}"
            return
        if path in done:
            return
        trail.append(path)
        for other in after[path]:
            yield from walk(other)
        trail.pop()
        done.add(path)

    for path in paths:
        yield from walk(path)


def rule(root):
    library = source.files(root, ".c", ".h", below=["lib"])
    public = source.files(root, ".h", below=["include"])
    for path in library:
        yield from lib_rule(root, path)
    for path in public + source.files(root, ".c", ".h", below=["cli", "examples"]):
        yield from outside_rule(root, path)
    for path in source.files(root, ".c", ".h"):
        yield from version_rule(root, path)
    yield from circles(root, library + public)


if __name__ == "__main__":
    source.main(rule)
