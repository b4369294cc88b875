# SPDX-License-Identifier: Apache-2.0
"""A capture that goes to standard output, as of a program in a container that has no place for files."""
import os
import pty
import subprocess

import harness
from harness import Case, Workload, clrscope, report


class StandardOutput(Case):
    def record(self, target, *options, seconds=1, **kwargs):
        return subprocess.run([harness.CLRSCOPE, "record", *options, "-d", f"{seconds}s", "-o", "-", *map(str, target)],
                              stderr=subprocess.PIPE, text=True, timeout=60, cwd=self.dir, check=False, **kwargs)

    def test_it_is_the_capture_that_a_file_would_be(self):
        with Workload("--seconds", "60", "--rate", "100000000") as w:
            with open(self.path("out"), "wb") as out:
                result = self.record(("-p", w.pid), "--live", "--exceptions", seconds=4, stdout=out)
            self.assert_ok(clrscope("record", "-d", "4s", "--live", "--exceptions", "-o", self.path("file"), "-p", w.pid))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("Wrote to standard output (", result.stderr)
        self.assertNotIn("Next:", result.stderr)
        self.assertEqual(sorted(os.listdir(self.dir)), ["file", "out"], "nothing else is written")
        streamed, filed = report(self.path("out")), report(self.path("file"))
        for document in (streamed, filed):
            self.assertGreater(document["totals"]["samples"], 300)
            self.assertEqual(document["processes"][0]["pid"], w.pid)
        self.assertEqual({row["type"] for row in streamed["rows"][:3]}, {row["type"] for row in filed["rows"][:3]})
        self.assertGreater(report(self.path("out"), "--live")["totals"]["samples"], 0)

    def test_a_reader_that_goes_away_and_a_full_disk_are_told(self):
        with Workload("--seconds", "60", "--rate", "10000000") as w:
            ours, theirs = os.pipe()
            os.close(ours)
            with os.fdopen(theirs, "wb") as gone, open("/dev/full", "wb") as full:
                for out, word in ((gone, "Broken pipe"), (full, "No space left")):
                    result = self.record(("-p", w.pid), "-q", stdout=out)
                    self.assertEqual(result.returncode, 1, result.stderr)
                    self.assertRegex(result.stderr, f"cannot write to standard output: {word}.*; the capture is lost")
                    self.assertEqual(len(result.stderr.splitlines()), 1)

    def test_where_it_cannot_be_is_refused_at_once(self):
        master, slave = pty.openpty()
        with os.fdopen(master), os.fdopen(slave, "wb") as terminal:
            result = self.record(("-p", 1), stdout=terminal)
        self.assertEqual(result.returncode, 2)
        self.assertIn("is a terminal", result.stderr)
        for options, word in ((("--", "true"), "launched program"), (("-p", "1", "--keep-nettrace"), "--keep-nettrace")):
            result = self.record(options, stdout=subprocess.DEVNULL)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(word, result.stderr)
        self.assertEqual(os.listdir(self.dir), [])
