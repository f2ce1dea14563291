"""SIGTERM and Ctrl-C while a worker serves: counted, instead of ending the program on the spot."""

import signal
import threading

ORDINARY = (signal.SIG_DFL, signal.default_int_handler)  # what a program has that has said nothing of a signal


class Signals:
    """In a `with` statement. `caught` is how many have come. It raises nothing, so nothing is left half done; but Python
    runs it between two steps of the main thread only, which therefore must not wait for long at a time."""

    def __init__(self):
        self.caught = 0
        self._before = {}

    def __enter__(self):
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT):
                if signal.getsignal(number) in ORDINARY:
                    self._before[number] = signal.signal(number, self._catch)
        return self

    def __exit__(self, *_exception):
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _catch(self, _number, _frame):
        self.caught += 1
