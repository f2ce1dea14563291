"""ONNX files by hand, as wrong as a test wants them: just enough of protobuf's wire format.

Field numbers are those of onnx.proto.
"""

FLOAT = 1


def varint(number):
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number, value):
    """A length-delimited field for bytes and text, a varint for a number."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def node(op, inputs, outputs, name="", attributes=()):
    """`attributes` are encoded AttributeProtos."""
    parts = [field(1, text) for text in inputs] + [field(2, text) for text in outputs]
    parts += [field(3, name), field(4, op)] + [field(5, attribute) for attribute in attributes]
    return b"".join(parts)


def value(name, dims, dtype=FLOAT):
    """A ValueInfoProto; a dimension may be a number or a name."""
    shape = b"".join(field(1, field(1 if isinstance(dim, int) else 2, dim)) for dim in dims)
    return field(1, name) + field(2, field(1, field(1, dtype) + field(2, shape)))


def graph(nodes, inputs, outputs):
    parts = [field(1, encoded) for encoded in nodes] + [field(2, "g")]
    parts += [field(11, encoded) for encoded in inputs] + [field(12, encoded) for encoded in outputs]
    return b"".join(parts)


def model(graph_bytes, opset=13):
    return field(1, 8) + field(7, graph_bytes) + field(8, field(1, "") + field(2, opset))


def nested(depth):
    """A graph inside an attribute of a node of a graph, `depth` times."""
    inner = b""
    for _ in range(depth):
        inner = field(1, field(5, field(6, inner)))
    return model(inner)
