"""Tables of the C headers. Written by scripts/make_python_tables.py; do not edit."""

# name, code, meaning, exit code of the programs, HTTP status, whether the same call may succeed later
ERRORS = (
    ("DLS_EINVAL", -1, "invalid argument", 2, 400, False),
    ("DLS_ENOMEM", -2, "out of memory", 4, 503, True),
    ("DLS_EIO", -3, "input or output failed", 4, 500, False),
    ("DLS_ENOTFOUND", -4, "not found", 4, 404, False),
    ("DLS_EEXISTS", -5, "already exists", 4, 409, False),
    ("DLS_EFORMAT", -6, "malformed data", 4, 400, False),
    ("DLS_EUNSUPPORTED", -7, "not supported", 4, 501, False),
    ("DLS_ELIMIT", -8, "over a limit", 4, 413, False),
    ("DLS_EBUSY", -9, "busy", 4, 503, True),
    ("DLS_ETIMEOUT", -10, "timed out", 5, 504, True),
    ("DLS_EUNREACHABLE", -11, "no master reached", 3, 502, True),
    ("DLS_EADDRESS", -12, "address cannot be used", 2, 400, False),
    ("DLS_ECANCELLED", -13, "cancelled", 130, 409, False),
    ("DLS_EPROTOCOL", -14, "protocol violated", 4, 502, False),
    ("DLS_EVERSION", -15, "version not supported", 4, 505, False),
    ("DLS_ESTATE", -16, "not possible in this state", 4, 409, False),
    ("DLS_EFORK", -17, "handle belongs to the process that forked", 4, 500, False),
    ("DLS_EHANDLER", -18, "handler failed", 1, 500, False),
    ("DLS_ELOST", -19, "lost with the process that held it", 1, 502, True),
    ("DLS_EDENIED", -20, "not allowed", 4, 403, False),
    ("DLS_EEXPIRED", -21, "deadline or time limit passed", 5, 504, False),
)

# numpy's name, value, bytes of one element
DTYPES = (
    ("float32", 1, 4),
    ("float64", 2, 8),
    ("int8", 3, 1),
    ("uint8", 4, 1),
    ("int16", 5, 2),
    ("uint16", 6, 2),
    ("int32", 7, 4),
    ("uint32", 8, 4),
    ("int64", 9, 8),
    ("uint64", 10, 8),
    ("bool", 11, 1),
)

ERROR_TEXT_BYTES = 512
TENSOR_RANK = 8
VERSION = "0.1.0"
SONAME = "libdlsched.so.0.1"
