# SPDX-License-Identifier: Apache-2.0
"""The disks that the agent is made to write to: one that stalls, one that is soon full, one that works."""
import glob
import os
import subprocess
import threading


class Disks:
    """`missing` says why there are only disks that work; None when all are there."""

    def __init__(self, folder):
        self.folder = folder
        self.lock = threading.Lock()
        self.stalled = False
        os.makedirs(self.at("good"), exist_ok=True)
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "disks")
        # A session of its own: it ends what it mounted and froze even when we are killed.
        self.process = subprocess.Popen([script, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        start_new_session=True)
        answer = self.process.stdout.readline().strip()
        self.missing = None if answer == "ready" else answer or "it says nothing"

    def at(self, name):
        return os.path.join(self.folder, name)

    @property
    def names(self):
        return ["good"] if self.missing else ["good", "stalling", "full"]

    def tell(self, word):
        """False where there are no such disks."""
        if self.missing:
            return False
        with self.lock:
            self.process.stdin.write(word + "\n")
            self.process.stdin.flush()
            self.process.stdout.readline()
            self.stalled = word == "stall" or (self.stalled and word != "go")
        return True

    def files(self, ending):
        return [path for name in self.names for path in glob.glob(self.at(name) + "/**/*" + ending, recursive=True)]

    def clear(self):
        self.tell("go")
        for path in self.files(""):
            if os.path.isfile(path):
                os.remove(path)

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
