#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/ci on steps that count, fail, hang, say nothing, and run side by side; what runs again, and what is known of it."""

import ast
import collections
import datetime
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

CI = pathlib.Path(__file__).resolve().parent / "ci"
TESTS = CI.parent.parent / "tests"


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

    def measuring(self, name, *, good_from, measures_until=9):
        """A step with 9 good tests, and one that fails before its run `good_from`, after run `measures_until` by what is final."""
        runs = self.folder / f"runs of {name}"
        self.step(name, f"echo >> '{runs}'; run=$(wc -l < '{runs}')", "[[ $run == 1 ]] && others=9 || others=0",
                  'echo "run $run of ${1:-all}"', f"if ((run >= {good_from})); then echo passed=1 failed=0; exit; fi",
                  'echo "FAIL A.measures: $run is too few"',
                  f"((run <= {measures_until})) && echo may run again: A.measures", "echo passed=$others failed=1; exit 1")

    def test_a_test_that_measures_gets_two_more_runs(self):
        self.measuring("10-a", good_from=3)
        self.step("20-b", "echo passed=1 failed=0")
        self.assertEqual(self.run_ci(), "11 passed, 0 failed")
        self.assertEqual(self.result.returncode, 0)
        told = self.result.stdout
        self.assertIn("run 3 of A.measures", told)
        self.assertIn("--- failed in 10-a, and passed in run 3\nFAIL A.measures: 1 is too few", told)
        lines = [line.split("\t") for line in told.splitlines() if line.startswith("RETRIED")]
        self.assertEqual([line[3:] for line in lines], [["A.measures", "run 3", "FAIL A.measures: 1 is too few"]])

    def test_it_gets_no_third_one(self):
        self.measuring("10-a", good_from=4)
        self.assertEqual(self.run_ci(), "9 passed, 1 failed")
        self.assertNotIn("RETRIED", self.result.stdout)
        self.assertIn("run 3 of", self.result.stdout)
        self.assertNotIn("run 4 of", self.result.stdout)

    def test_a_run_that_meets_what_is_final_is_the_last(self):
        self.measuring("10-a", good_from=3, measures_until=1)
        self.assertEqual(self.run_ci(), "9 passed, 1 failed")
        self.assertIn("run 2 of", self.result.stdout)
        self.assertNotIn("run 3 of", self.result.stdout)

    def test_beside_a_final_failure_nothing_runs_again(self):
        self.measuring("10-a", good_from=2)
        self.step("20-b", "echo passed=3 failed=1; exit 1")
        self.assertEqual(self.run_ci(), "12 passed, 2 failed")
        self.assertIn("final failures in 20-b", self.result.stdout)
        self.assertNotIn("run 2 of", self.result.stdout)

    def test_a_step_that_names_fewer_than_failed_is_final(self):
        self.step("10-a", "echo 'may run again: A.measures'", "echo passed=3 failed=2; exit 1")
        self.assertEqual(self.run_ci(), "3 passed, 2 failed")
        self.assertEqual(os.listdir(self.folder / "logs"), ["10-a.log"], "nothing ran again")
        self.assertNotIn("RETRIED", self.result.stdout)

    def test_a_step_that_is_killed_is_final(self):
        self.step("10-a", "# timeout: 1", "echo 'may run again: A.measures'", "echo passed=3 failed=1", "sleep 20")
        self.assertEqual(self.run_ci(), "3 passed, 1 failed")
        self.assertNotIn("RETRIED", self.result.stdout)

    def test_many_that_fail_are_no_accident(self):
        self.step("10-a", *(f"echo 'may run again: A.test_{i}'" for i in range(6)), "echo passed=0 failed=6; exit 1")
        self.assertEqual(self.run_ci(), "0 passed, 6 failed")
        self.assertIn("6 failed, and at most 5 may", self.result.stdout)

    def test_quick_ones(self):
        self.step("10-a", "# quick", 'echo "passed=${CLRSCOPE_QUICK:-5} failed=0"')
        self.step("20-b", "echo passed=1 failed=0")
        self.assertEqual(self.run_ci("--quick"), "1 passed, 0 failed")
        self.assertEqual(self.run_ci(), "6 passed, 0 failed")


class Verdicts(unittest.TestCase):
    """What tests/e2e/clock.py says of tests that fail."""
    MODULE = """
import os, signal, subprocess, sys, unittest
sys.path.insert(0, {folder!r})
import harness
from clock import clock

def end_by(number):
    subprocess.run([sys.executable, "-c", f"import os; os.kill(os.getpid(), {{number}})"])

class A(unittest.TestCase):
    @clock
    def test_measures(self):
        end_by(signal.SIGKILL.value)  # which no fault is
        for part in "ab":
            with self.subTest(part):
                self.assertLess(2, 1)
    @clock
    def test_crashes(self):
        end_by(signal.SIGSEGV.value)
        self.assertLess(2, 1)
    @clock
    def test_hangs(self):
        self.fail("the program did not print its ledger")
    @clock
    def test_passes(self):
        pass
    def test_counts(self):
        self.assertEqual(2, 1)
    @unittest.skip("for a reason")
    def test_is_skipped(self):
        pass

@clock
class B(unittest.TestCase):
    def test_measures_too(self):
        self.assertLess(2, 1)

class C(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise KeyError
    def test_never_runs(self):
        pass

if __name__ == "__main__":
    harness.main("__main__")
"""

    def run_module(self, *args, **env):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "module.py"
            path.write_text(self.MODULE.format(folder=str(TESTS / "e2e")))
            result = subprocess.run([sys.executable, path, *args], capture_output=True, text=True, env={**os.environ, **env}, timeout=60,
                                    check=False)
        return result.stdout.splitlines(), result.returncode

    def test_which_may_run_again(self):
        lines, code = self.run_module()
        self.assertEqual(lines, ["may run again: A.test_measures", "may run again: B.test_measures_too", "passed=1 failed=6 skipped=1"])
        self.assertEqual(code, 1)

    def test_by_name_and_by_kind(self):
        self.assertEqual(self.run_module("A.test_passes"), (["passed=1 failed=0 skipped=0"], 0))
        self.assertEqual(self.run_module(CLRSCOPE_TESTS="patient")[0], ["passed=0 failed=2 skipped=1"])
        self.assertEqual(self.run_module(CLRSCOPE_TESTS="clock")[0][-1], "passed=1 failed=4 skipped=0")
        self.assertEqual(self.run_module("--list", "clock")[0], ["A.test_crashes", "A.test_hangs", "A.test_measures", "A.test_passes",
                                                                 "B.test_measures_too"])


class CtestVerdicts(unittest.TestCase):
    """What tools/run_ctest says of tests that fail."""
    # As GoogleTest ends.
    FAILED = "[  FAILED  ] 1 test, listed below:\\n[  FAILED  ] Clock.Fails\\n\\n 1 FAILED TEST\\n"
    SHELLS = {"Clock.Fails": f"printf '{FAILED}'", "Clock.Crashes": "echo '[ RUN      ]'", "Clock.IsSanitized": f"echo AddressSanitizer; printf '{FAILED}'",
              "Clock.CrashesAtItsEnd": f"printf '{FAILED}'; echo terminate called", "Other.Fails": f"printf '{FAILED}'"}

    def test_which_may_run_again(self):
        with tempfile.TemporaryDirectory() as folder:
            lines = ["cmake_minimum_required(VERSION 3.25)", "project(made_up NONE)", "enable_testing()", "add_test(NAME Clock.Passes COMMAND true)"]
            for name, shell in self.SHELLS.items():
                lines.append(f"add_test(NAME {name} COMMAND sh -c [==[{shell}; exit 1]==])")
            lines.append(f"set_tests_properties(Clock.Passes {' '.join(n for n in self.SHELLS if n.startswith('Clock'))} PROPERTIES LABELS clock)")
            (pathlib.Path(folder) / "CMakeLists.txt").write_text("\n".join(lines))
            subprocess.run(["cmake", "-S", folder, "-B", f"{folder}/build"], capture_output=True, check=True)
            said = [subprocess.run([CI.parent / "run_ctest", f"{folder}/build", *args], capture_output=True, text=True, check=False).stdout.splitlines()
                    for args in ((), ("-R", "^Clock\\.Passes$"))]
        self.assertEqual(said[0][-2:], ["may run again: Clock.Fails", "passed=1 failed=5 skipped=0"], said[0])
        self.assertEqual(sum(line.startswith("may run again") for line in said[0]), 1)
        self.assertEqual(said[1][-1], "passed=1 failed=0 skipped=0")


class Suites(unittest.TestCase):
    """Tests of a folder's modules run only where its FOLDER_test.py, or another *_test.py of it, imports their class."""

    def test_every_class_of_tests_is_run(self):
        def tree(path):
            return ast.parse(path.read_text())

        found = 0
        for folder in sorted(p for p in TESTS.iterdir() if p.is_dir()):
            suites = [tree(path) for path in folder.glob("*_test.py")]
            run = {a.name for suite in suites for node in ast.walk(suite) if isinstance(node, ast.ImportFrom) for a in node.names}
            for path in folder.glob("*.py"):
                if path.name.endswith("_test.py"):
                    continue
                tested = [c.name for c in tree(path).body if isinstance(c, ast.ClassDef)
                          and any(isinstance(m, ast.FunctionDef) and m.name.startswith("test_") for m in c.body)]
                found += len(tested)
                self.assertEqual(set(tested) - run, set(), f"{path} has tests that nothing runs")
        self.assertGreater(found, 10)


class Retried(unittest.TestCase):
    """tests/retried.tsv: no test is left to fail now and then, and no more of them may run again than today."""
    MOST_TESTS = 74
    MOST_LINES, DAYS = 2, 30

    def test_how_many_may_run_again(self):
        names = [name for folder in ("e2e", "agent", "leaks") for name in subprocess.run(
            [sys.executable, TESTS / folder / f"{folder}_test.py", "--list", "clock"], capture_output=True, text=True, check=True).stdout.split()]
        self.assertGreater(len(names), 10)
        self.assertLessEqual(len(names), self.MOST_TESTS)
        self.assertEqual(len(names), len(set(names)), "a name says which test runs again")

    def too_often(self, text):
        """The tests with more lines within some days than may be, since the last line that says they are mended."""
        found, dates = set(), collections.defaultdict(list)
        for line in text.splitlines():
            if not line or line.startswith("#"):
                continue
            date, _, name, what, _ = line.split("\t")
            if what.startswith("mended"):
                dates[name].clear()
                found.discard(name)
                continue
            dates[name].append(datetime.date.fromisoformat(date))
            if sum((dates[name][-1] - d).days < self.DAYS for d in dates[name]) > self.MOST_LINES:
                found.add(name)
        return found

    def test_none_is_retried_too_often(self):
        self.assertEqual(self.too_often((TESTS / "retried.tsv").read_text()), set())

    def test_how_they_are_counted(self):
        def lines(name, *days):
            return "".join(f"2026-{day}\tabc\t{name}\trun 2\twords\n" for day in days)
        self.assertEqual(self.too_often(lines("A.x", "01-01", "01-02") + lines("A.y", "01-03", "03-04", "03-05")), set())
        three = lines("A.x", "01-01", "01-20", "01-30")
        self.assertEqual(self.too_often(three), {"A.x"})
        self.assertEqual(self.too_often(three + "2026-01-30\tdef\tA.x\tmended\twords\n" + lines("A.x", "01-31")), set())


if __name__ == "__main__":
    result = unittest.TextTestRunner(verbosity=2).run(unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"]))
    failed = len(result.failures) + len(result.errors)
    skipped = len(result.skipped)
    print(f"passed={result.testsRun - failed - skipped} failed={failed} skipped={skipped}")
    sys.exit(1 if failed else 0)
