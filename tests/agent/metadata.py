# SPDX-License-Identifier: Apache-2.0
"""The runtime's metadata stay as they are while the agent names methods and types: asked for those of a module, the runtime changes them to a
form in which every look takes a lock, for the rest of the process's life."""
import signal
import statistics

from agent_case import FLAVOURS, AgentCase, await_sampling, clrscope, start_clrscope, status, wait_until
from harness import cpu_clock_ns


def looks_per_cpu_second(works, rounds=12):
    """Of each program: the median of rounds, in which they take turns, as the machine's speed changes."""
    speeds = [[] for _ in works]
    for _ in range(rounds):
        for work, speed in zip(works, speeds):
            before = cpu_clock_ns(work.pid)
            work.go()
            operations = work.truth()["operations"]
            speed.append(operations * 1e9 / (cpu_clock_ns(work.pid) - before))
    return [statistics.median(speed) for speed in speeds]


def speeds_around_a_recording(recorded, other, path, rounds=12):
    """Of both programs, before one of them is recorded, and after that, when the agent is out again."""
    both = [recorded, other]
    looks_per_cpu_second(both, rounds)  # the compiler is done with it
    before = looks_per_cpu_second(both, rounds)
    recorder = start_clrscope("record", "-p", recorded.pid, "--live", "--exceptions", "-f", "-o", path)
    try:
        await_sampling(recorded.pid)
        looks_per_cpu_second([recorded], rounds)
        wait_until(lambda: status(recorded.pid)["methods"] > 8, 60, "it names methods")
        recorder.send_signal(signal.SIGINT)
        _, words = recorder.communicate(timeout=120)
    finally:
        recorder.kill()
    if recorder.returncode != 0:
        raise AssertionError(words)
    return before, looks_per_cpu_second(both, rounds)


def ratio_of(before, after):
    """What a recording left of the recorded program's speed, beside the other program."""
    return after[0] / before[0] * before[1] / after[1]


class Metadata(AgentCase):
    def test_they_are_read_in_the_images(self):
        """Libraries that were compiled before and others, files and one file, modules that come and go, modules without an image."""
        for flavour in [*FLAVOURS, "alloc-single"]:
            for mode in ("mix", "generic", "async", "dynamic"):
                if (flavour, mode) == ("alloc-single", "dynamic"):
                    continue  # it loads its own file once more
                with self.subTest(flavour=flavour, mode=mode):
                    work = self.workload(flavour, "--mode", mode, "--threads", "2", "--rate", "100e6", "--seconds", "600")
                    self.assert_ok(clrscope("attach", "-p", work.pid))
                    wait_until(lambda: (status(work.pid) or {}).get("samples", 0) > 2000, 60, "it samples")
                    wait_until(lambda: status(work.pid)["methods"] > 8, 60, "it names methods")
                    self.assertGreater(status(work.pid)["types"], 0)
                    self.assertEqual(status(work.pid)["metadata_by_runtime"], 0)
                    self.assert_ok(clrscope("detach", "-p", work.pid))
                    work.end()

    def speed_after_a_recording(self, flavour):
        recorded, other = self.workload(flavour), self.workload(flavour)
        ratio = ratio_of(*speeds_around_a_recording(recorded, other, self.path(f"{flavour}.clrscope")))
        for work in (recorded, other):
            work.end()
        return ratio

    def test_reflection_is_as_fast_after_a_recording(self):
        """A recording that makes the runtime convert its metadata slows each program down, to 0.77 or less. Two programs that nobody records
        drift apart by a tenth now and then, so one pair of six must be as fast as it was."""
        for flavour in ["reflects", "reflects-net9", "reflects-net8"]:
            with self.subTest(flavour):
                ratios = []
                while max(ratios, default=0) < 0.9 and len(ratios) < 6:
                    ratios.append(self.speed_after_a_recording(flavour))
                self.assertGreaterEqual(max(ratios), 0.9, ratios)
