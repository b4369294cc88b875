# SPDX-License-Identifier: Apache-2.0
"""How many events of each kind there were; several threads count."""
import collections
import threading


class Counts:
    def __init__(self):
        self.lock = threading.Lock()
        self.numbers = collections.Counter()

    def add(self, kind, count=1):
        with self.lock:
            self.numbers[kind] += count

    def most(self, kind, value):
        with self.lock:
            self.numbers[kind] = max(self.numbers[kind], value)
