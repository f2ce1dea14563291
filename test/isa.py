"""The instruction sets for which the engine has code of its own, and which of them this machine has."""

import pathlib


def of_machine():
    """The least first. DLS_ISA takes these names."""
    flags = set(pathlib.Path("/proc/cpuinfo").read_text().partition("flags")[2].partition("\n")[0].split())
    names = ["generic"]
    if {"avx2", "fma"} <= flags:
        names.append("avx2")
        if {"avx512f", "avx512bw", "avx512dq", "avx512vl"} <= flags:
            names.append("avx512")
    return names
