# SPDX-License-Identifier: Apache-2.0
"""Tests that measure: they compare clocks, rates or speed, so other work on the machine may fail them though the product is right.

CI runs the tests marked @clock alone, after all others, and runs again those that fail (tools/ci). Every other failure is final; so is the
failure of a test that met a crash, a hang, a sanitizer's report or lost data, whatever it measures."""
import re
import signal
import subprocess
import time
import unittest

FINAL = re.compile(r"Sanitizer|terminate called|did not print|timed out after|events_dropped|blocks_discarded|samples_lost")
LONG = 5  # s; tests that run longer are listed
CRASHES = {signal.SIGILL, signal.SIGTRAP, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGSEGV}


def clock(test):
    """Marks a test, or all tests of a class."""
    test.clock = True
    return test


def is_clock(test):
    return getattr(getattr(test, test._testMethodName), "clock", getattr(type(test), "clock", False))


def name_of(test):
    return f"{type(test).__name__}.{test._testMethodName}"


def tests_of(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from tests_of(test)
        else:
            yield test


class Process(subprocess.Popen):
    """Every process that a test starts; one that ends by a fault's signal, or says that its child did, is a crash."""
    crashes = []  # exit codes

    @property
    def returncode(self):
        return self._returncode

    @returncode.setter
    def returncode(self, code):
        self._returncode = code
        if code is not None and (-code in CRASHES or code - 128 in CRASHES):
            Process.crashes.append(code)


class Result(unittest.TextTestResult):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.crashed = set()  # tests
        self.seconds = {}  # by test

    def startTest(self, test):
        super().startTest(test)
        Process.crashes.clear()
        self.seconds[test] = -time.monotonic()

    def stopTest(self, test):
        super().stopTest(test)
        self.seconds[test] += time.monotonic()
        if Process.crashes:
            self.crashed.add(test)

    def failed(self):
        """{test: text}: one for each test, however many of its subtests failed. A class whose set-up failed has one, too."""
        texts = {}
        for test, text in self.failures + self.errors:
            texts.setdefault(getattr(test, "test_case", test), []).append(text)
        return {test: "\n".join(parts) for test, parts in texts.items()}

    def may_run_again(self, test, text):
        return hasattr(test, "_testMethodName") and is_clock(test) and test not in self.crashed and not FINAL.search(text)


def run(suite):
    """Runs the tests, prints the lines that tools/ci reads, and returns how many failed."""
    subprocess.Popen = Process
    result = unittest.TextTestRunner(verbosity=2, resultclass=Result).run(suite)
    failed = result.failed()
    for test, text in failed.items():
        if result.may_run_again(test, text):
            print(f"may run again: {name_of(test)}")
    for test, seconds in sorted(result.seconds.items(), key=lambda item: -item[1]):
        if seconds > LONG:
            print(f"{seconds:6.1f} s  {name_of(test)}")
    ran = sum(hasattr(test, "_testMethodName") for test in failed)
    print(f"passed={result.testsRun - ran - len(result.skipped)} failed={len(failed)} skipped={len(result.skipped)}")
    return len(failed)
