#!/usr/bin/python3
"""Calls that the library must not make: it lives inside other programs, so it never ends, prints, sleeps or changes what
belongs to the whole process; and the rooms that must replay from a seed touch neither time nor chance nor the world."""
import re

import source

PURE = ("proto", "core", "policy")

EVERYWHERE = {
    "ends the process; return an error": "abort exit _exit _Exit quick_exit assert err errx warn warnx",
    "prints; return a sentence in struct dls_error or call the log function of the ctx":
        "printf vprintf puts putchar perror fprintf vfprintf fputs fputc putc stdout stderr",
    "sleeps; wait for an event": "sleep usleep nanosleep clock_nanosleep",
    "knows no bound; use snprintf, memcpy, struct dlsi_buffer or strtoimax":
        "strcpy strcat sprintf vsprintf gets strtok atoi atol atoll atof sscanf alloca",
    "is not safe in threads": "strerror localtime gmtime asctime ctime rand srand random srandom drand48",
    "changes the whole process":
        "signal sigaction setenv putenv unsetenv setlocale chdir umask system omp_set_num_threads",
    "takes memory past the caller's struct dlsi_alloc":
        "malloc calloc realloc reallocarray strdup strndup asprintf vasprintf",
}

IN_PURE_ROOMS = {
    "tells the time; the core is told it": "time clock clock_gettime gettimeofday timespec_get dlsi_clock_\\w+",
    "draws chance that does not replay; use struct dlsi_rng": "getrandom getentropy arc4random dlsi_random_\\w+",
    "touches the world; the core asks for it by an effect":
        "open openat creat read write pread pwrite close fopen fread fwrite fclose socket send sendto recv recvfrom poll "
        "select stat fstat unlink rename mkdir mmap ioctl getenv getpid dlsi_file_\\w+ zmq_\\w+",
    "makes threads; the core has none": "pthread_\\w+ thrd_\\w+ mtx_\\w+",
}

ALLOWED = {
    ("lib/base/alloc.c", "realloc"),  # where the C library's allocator becomes a struct dlsi_alloc
    ("lib/kernel/parallel.c", "omp_set_num_threads"),  # of a thread, as its header says
}


def compiled(table):
    """(why, pattern of a call); stdout and stderr count without a parenthesis, and members of structures never do."""
    for why, names in table.items():
        streams = [name for name in names.split() if name in ("stdout", "stderr")]
        calls = [name for name in names.split() if name not in streams]
        parts = [rf"(?:{'|'.join(calls)})(?=\s*\()"] + [rf"{name}\b" for name in streams]
        yield why, re.compile(rf"(?<![\w.>])({'|'.join(parts)})")


def rule(root):
    everywhere, pure = list(compiled(EVERYWHERE)), list(compiled(IN_PURE_ROOMS))
    for path in source.files(root, ".c", ".h", below=["lib"]):
        text = source.bare(source.read(root, path))
        for why, pattern in everywhere + (pure if path.parts[1] in PURE else []):
            for match in pattern.finditer(text):
                if (str(path), match.group(1)) not in ALLOWED:
                    yield f"{path}:{source.line_of(text, match.start())}: {match.group(1)} {why}"


if __name__ == "__main__":
    source.main(rule)
