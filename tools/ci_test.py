#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/ci on steps that count, fail, hang, say nothing, and run side by side."""

import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

CI = pathlib.Path(__file__).resolve().parent / "ci"


class Steps(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "steps").mkdir()

    def step(self, name, *lines):
        path = self.folder / "steps" / name
        path.write_text("\n".join(("#!/usr/bin/env bash", *lines, "")))
        path.chmod(0o755)

    def run_ci(self, *args):
        env = {**os.environ, "CLRSCOPE_CI_STEPS": f"{self.folder}/steps", "CLRSCOPE_CI_LOGS": f"{self.folder}/logs"}
        self.result = subprocess.run([CI, *args], capture_output=True, text=True, env=env, timeout=60, check=False)
        return self.result.stdout.splitlines()[-1]

    def test_counts_are_summed_up_and_the_last_one_of_a_step_counts(self):
        self.step("10-a", "echo passed=9 failed=9", "echo passed=2 failed=0")
        self.step("20-b", "echo passed=1 failed=0 skipped=4")
        self.assertEqual(self.run_ci(), "3 passed, 0 failed")
        self.assertEqual(self.result.returncode, 0)
        self.assertIn("4 skipped", self.result.stdout)
        self.assertEqual(self.run_ci("20"), "1 passed, 0 failed")
        self.assertEqual(self.run_ci("nothing"), "0 passed, 1 failed")

    def test_what_fails_or_counts_nothing_is_a_failure(self):
        self.step("10-a", "echo passed=2 failed=0; exit 3")
        self.step("20-b", "echo fine")
        self.step("30-c", "echo passed=5 failed=2; exit 1")
        self.assertEqual(self.run_ci(), "7 passed, 4 failed")
        self.assertEqual(self.result.returncode, 1)

    def test_what_failed_is_told_again_after_the_table(self):
        lines = (self.folder / "log")
        lines.write_text("noise\n" + "=" * 70 + "\nFAIL: test_first (a.B)\n" + "-" * 70 + "\n" + "frame\n" * 90 +
                         "AssertionError: 1 != 2\n\n" + "=" * 70 + "\nERROR: test_second (a.B)\n" + "-" * 70 +
                         "\nKeyError\n\n" + "-" * 70 + "\nRan 9 tests in 1 s\nnoise\n")
        self.step("10-a", f"cat {lines}", "echo passed=7 failed=2; exit 1")
        self.step("20-b", "echo '1/2 Test #1: Fine.One .....   Passed'", "echo '2/2 Test #2: Wrong.One ...***Failed  0.1 sec'",
                  "echo 'Expected: 3'", "echo '50% tests passed, 1 tests failed out of 2'",
                  "echo passed=1 failed=1; exit 1")
        self.step("30-c", "echo what went wrong", "echo passed=0 failed=0; exit 1")
        self.step("40-d", "echo 'ok   fine'", "echo 'FAIL third: 2 differences'", "echo '    of a type'", "echo noise",
                  "echo passed=1 failed=1; exit 1")
        self.assertEqual(self.run_ci(), "9 passed, 5 failed")
        told = self.result.stdout.split(" s in all\n")[1]
        self.assertEqual(told.count("--- failed in"), 5, told)
        for words in ("FAIL: test_first", "AssertionError: 1 != 2", "[54 lines]", "ERROR: test_second", "Wrong.One",
                      "Expected: 3", "what went wrong", "FAIL third: 2 differences", "of a type"):
            self.assertIn(words, told)
        for words in ("Fine.One", "noise", "tests passed", "ok   fine"):
            self.assertNotIn(words, told)

    def test_what_hangs_is_killed_with_its_children(self):
        told = self.folder / "child"
        self.step("10-a", "# timeout: 1", "# lane: a", f"(while sleep 0.1; do date +%N > {told}; done) &",
                  "echo passed=1 failed=0", "sleep 50")
        self.assertEqual(self.run_ci(), "1 passed, 1 failed")
        self.assertIn("was killed after 1 s", self.result.stdout)
        before = told.read_text()
        time.sleep(0.5)
        self.assertEqual(told.read_text(), before)

    def test_lanes_run_side_by_side_and_are_printed_one_by_one(self):
        # Each waits for the other.
        for name, other in (("10-a", "20-b"), ("20-b", "10-a")):
            self.step(name, f"# lane: {name}", "# timeout: 30", f"echo first of {name}; touch {self.folder}/{name}",
                      f"until [[ -e {self.folder}/{other} ]]; do sleep 0.05; done", f"echo second of {name}",
                      "echo passed=1 failed=0")
        self.step("30-c", "# lane: 10-a", f"[[ -e {self.folder}/20-b ]] && echo passed=1 failed=0")
        self.assertEqual(self.run_ci(), "3 passed, 0 failed")
        for name in ("10-a", "20-b"):
            self.assertIn(f"first of {name}\nsecond of {name}\n", self.result.stdout)

    def test_each_has_a_folder_of_its_own_and_leaves_nothing(self):
        self.step("10-a", "touch $TMPDIR/left; echo $TMPDIR; echo passed=1 failed=0")
        self.run_ci()
        folder = (self.folder / "logs/10-a.log").read_text().splitlines()[0]
        self.assertLess(len(folder), 20)
        self.assertFalse(os.path.exists(folder))

    def test_niceness_counts_beside_other_sessions(self):
        groups = pathlib.Path("/proc/sys/kernel/sched_autogroup_enabled")
        self.step("10-a", "# nice: 7", "sleep 0.3; echo is $(nice), $(sed 's/.* nice/nice/' /proc/self/autogroup); echo passed=1 failed=0")
        self.assertEqual(self.run_ci(), "1 passed, 0 failed")
        grouped = groups.exists() and groups.read_text().strip() == "1"
        self.assertIn("is 7, nice 7" if grouped else "is 7,", self.result.stdout)

    def test_niceness_ends_with_the_lanes_that_have_none(self):
        groups = pathlib.Path("/proc/sys/kernel/sched_autogroup_enabled")
        if not groups.exists() or groups.read_text().strip() != "1":
            self.skipTest("sessions are no scheduling groups here")
        self.step("10-a", "# lane: a", "# nice: 7", f"until grep -q 'nice 7' /proc/self/autogroup; do sleep 0.02; done; touch {self.folder}/nice",
                  "until grep -q 'nice 0' /proc/self/autogroup; do sleep 0.02; done; echo passed=1 failed=0")
        self.step("11-c", "# lane: a", "# nice: 7", "sleep 0.2; grep -q 'nice 0' /proc/self/autogroup && echo passed=1 failed=0")
        self.step("20-b", "# lane: b", f"until [[ -e {self.folder}/nice ]]; do sleep 0.02; done; echo passed=1 failed=0")
        self.assertEqual(self.run_ci(), "3 passed, 0 failed")

    def test_quick_ones(self):
        self.step("10-a", "# quick", 'echo "passed=${CLRSCOPE_QUICK:-5} failed=0"')
        self.step("20-b", "echo passed=1 failed=0")
        self.assertEqual(self.run_ci("--quick"), "1 passed, 0 failed")
        self.assertEqual(self.run_ci(), "6 passed, 0 failed")


if __name__ == "__main__":
    result = unittest.TextTestRunner(verbosity=2).run(unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"]))
    failed = len(result.failures) + len(result.errors)
    skipped = len(result.skipped)
    print(f"passed={result.testsRun - failed - skipped} failed={failed} skipped={skipped}")
    sys.exit(1 if failed else 0)
