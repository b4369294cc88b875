# SPDX-License-Identifier: Apache-2.0
"""What every thread does now, and why a program hangs, against programs that hang in a known way."""
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import harness
from harness import Case, Workload, clrscope, start_clrscope

FLAVOURS = ("hangs", "hangs-net8", "hangs-net9")
WITH_LOCK = ("hangs", "hangs-net9")  # System.Threading.Lock came with .NET 9
NAMESPACE = "Clrscope.Workloads.Hangs."

# Holds on to every thread of a process as a debugger does, lets them run, and says so.
SEIZER = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
for task in os.listdir(f"/proc/{sys.argv[1]}/task"):
    if libc.ptrace(0x4206, int(task), None, None) != 0:
        sys.exit(os.strerror(ctypes.get_errno()))
print("seized", flush=True)
sys.stdin.read()
"""


class Stacks(Case):
    def start(self, flavour, *args, env=None):
        if not os.path.isdir(os.path.join(harness.WORKLOADS, flavour)):
            self.skipTest(f"{flavour} is not built: tools/build_workloads --self-contained {flavour.partition('-')[0]}")
        return Workload(*args, flavour=flavour, env=env)

    def hang(self, mode, flavour="hangs", env=None):
        return self.start(flavour, mode, env=env)

    def look(self, w, *options, code=0):
        result = clrscope("stacks", "-p", w.pid, "--json", *options)
        self.assertEqual(result.returncode, code, result.stderr + result.stdout[:2000])
        picture = json.loads(result.stdout)
        self.check_goes_on(w)
        return picture

    def look_until(self, w, kind):
        """A look that has this finding first: on a busy machine a thread may be about to wait for long."""
        pictures = []

        def found():
            pictures.append(self.look(w))
            return self.kinds(pictures[-1])[0] == kind
        harness.wait_until(found, 60, f"{kind} of {w.ready}")
        return pictures[-1]

    def check_goes_on(self, w):
        """A thread that counts each millisecond goes on, and none is left stopped."""
        def beat():
            w.go()
            return int(w.line("its heartbeat"))
        first = beat()
        deadline = time.monotonic() + 20
        while beat() <= first:
            self.assertLess(time.monotonic(), deadline, harness.threads_of(w.pid))
            time.sleep(0.01)
        for task in os.listdir(f"/proc/{w.pid}/task"):
            try:
                with open(f"/proc/{w.pid}/task/{task}/status", encoding="utf-8") as file:
                    status = dict(line.split(":", 1) for line in file.read().splitlines())
            except (FileNotFoundError, ProcessLookupError):
                continue  # it has ended
            self.assertNotIn(status["State"].split()[0], "tT", harness.threads_of(w.pid))
            self.assertEqual(status["TracerPid"].strip(), "0")

    @staticmethod
    def findings(picture):
        # Where CPUs are scarce, the runtime compiles what its start used for longer than a look lasts.
        compiler = {t["managed_id"] for t in picture["threads"] if t["name"].startswith(".NET Tiered Com")}
        return [f for f in picture["findings"] if f["kind"] != "spins" or not compiler.issuperset(f["threads"])]

    def kinds(self, picture):
        return [f["kind"] for f in self.findings(picture)]

    @staticmethod
    def by_name(picture):
        return {t["name"]: t for t in picture["threads"]}

    def first_lines(self, w, count=6):
        result = clrscope("stacks", "-p", w.pid, env={**os.environ, "COLUMNS": "100"})
        self.assert_ok(result)
        lines = result.stdout.splitlines()
        for line in lines:
            self.assertLessEqual(len(line), 100, line)
        return " ".join(line.strip() for line in lines[1:count])

    def frames(self, thread):
        return [frame["name"] for frame in thread["stack"]]

    def check_ring(self, picture, w, type_name):
        """Each thread of the ring waits for what the next one holds; names and numbers are the program's own."""
        self.assertEqual(len(picture["deadlocks"]), 1)
        ring = picture["deadlocks"][0]["threads"]
        self.assertEqual({t["name"]: t["managed_id"] for t in ring}, w.ready["threads"])
        threads = {t["managed_id"]: t for t in picture["threads"]}
        for i, t in enumerate(ring):
            following = ring[(i + 1) % len(ring)]
            wanted = t["waits_for"]
            self.assertEqual(wanted["type"], type_name)
            self.assertEqual(wanted["owner_thread_id"], following["id"])
            self.assertIn(wanted["object"], [held["object"] for held in threads[following["managed_id"]]["holds"]])
            self.assertEqual(threads[t["managed_id"]]["state"], "lock")
            self.assertEqual(threads[t["managed_id"]]["waits_for"]["object"], wanted["object"])

    def test_a_deadlock_of_monitors(self):
        for flavour in FLAVOURS:
            for mode in ("deadlock", "deadlock3"):
                with self.subTest(flavour=flavour, mode=mode), self.hang(mode, flavour) as w:
                    picture = self.look(w)
                    self.assertEqual(self.kinds(picture)[0], "deadlock")
                    self.assertEqual((picture["pool"], picture["notes"]), (None, []), "it has no pool yet, and nothing else is missing")
                    self.check_ring(picture, w, NAMESPACE + "Account")
                    frames = self.frames(self.by_name(picture)["transfer-worker-a"])
                    place = frames.index(NAMESPACE + "Deadlocks.Enter")
                    self.assertEqual(frames[place + 1], NAMESPACE + "Deadlocks.Transfer")
                    words = self.first_lines(w)
                    self.assertRegex(words, r'^Deadlock: thread \d+ "transfer-worker-a" holds \S+Account 0x[0-9a-f]+ and waits for \S+Account '
                                            r'0x[0-9a-f]+, held by thread \d+ "transfer-worker-b"')

    def test_a_deadlock_of_locks(self):
        for flavour in WITH_LOCK:
            with self.subTest(flavour=flavour), self.hang("lock-deadlock", flavour) as w:
                picture = self.look(w)
                self.assertEqual(self.kinds(picture), ["deadlock"])
                self.check_ring(picture, w, "System.Threading.Lock")

    def test_rings_of_other_kinds(self):
        # What the second thread of the ring waits for, and what the first one does.
        rings = {"constructor": ("static_constructor", "monitor"), "generic-constructor": ("static_constructor", "monitor"),
                 "writers": ("reader_writer_lock", "reader_writer_lock"), "readers": ("monitor", "reader_writer_lock"),
                 "join": ("thread", "monitor")}
        for flavour in FLAVOURS:
            for mode, kinds in rings.items():
                with self.subTest(flavour=flavour, mode=mode), self.hang(mode, flavour) as w:
                    picture = self.look_until(w, "deadlock")
                    self.assertEqual(self.kinds(picture), ["deadlock"], picture["findings"])
                    ids = w.ready["threads"]
                    ring = picture["deadlocks"][0]["threads"]
                    self.assertEqual([t["managed_id"] for t in ring], [ids["ring-a"], ids["ring-b"]])
                    self.assertEqual(tuple(t["waits_for"]["kind"] for t in ring), kinds)
                    threads = self.by_name(picture)
                    if "constructor" in mode:
                        name = NAMESPACE + "Rings.Config" + ("<string>" if mode.startswith("generic") else "")
                        self.assertIn(f"the static constructor of {name}, run by thread {ids['ring-b']} \"ring-b\"", picture["findings"][0]["text"])
                        self.assertIn("; 2 more threads wait behind them", picture["findings"][0]["text"])
                        for bystander in ("bystander-0", "bystander-1"):
                            self.assertEqual(threads[bystander]["waits_for"]["owner_managed_id"], ids["ring-b"])
                    if mode == "readers":
                        self.assertEqual(sorted(threads["ring-b"]["waits_for"]["owners"]), sorted([ids["reader"], ids["ring-a"]]))

    def test_rings_whose_owners_are_not_known(self):
        for flavour in FLAVOURS:
            for mode, kind in (("mutexes", "mutex"), ("semaphore-and-lock", "semaphore")):
                with self.subTest(flavour=flavour, mode=mode), self.hang(mode, flavour) as w:
                    picture = self.look_until(w, "maybe_deadlock")
                    found = picture["findings"][0]
                    self.assertEqual(set(found["threads"]), set(w.ready["threads"].values()))
                    waits = self.by_name(picture)["ring-b"]["waits_for"]
                    self.assertEqual((waits["kind"], waits["owners"], waits["more_owners"]), (kind, [], True))
                    self.assertNotIn("no_deadlock", self.kinds(picture))
                    self.assertRegex(self.first_lines(w), "^Maybe a deadlock: thread .* not known")
            # Consumers of work wait that way, too.
            with self.subTest(flavour=flavour, mode="semaphores"), self.hang("semaphores", flavour) as w:
                harness.wait_until(lambda: self.look(w)["findings"][-1]["threads"] == sorted(w.ready["threads"].values()), 60, "both to wait")
                picture = self.look(w)
                self.assertEqual(self.kinds(picture), ["no_deadlock"], picture["findings"])
                self.assertRegex(self.first_lines(w), "threads [0-9]+, [0-9]+ wait for what has no owner .* may be in one")

    def test_a_program_that_works(self):
        for flavour in FLAVOURS:
            with self.subTest(flavour=flavour), self.hang("healthy", flavour) as w:
                for _ in range(5):
                    picture = self.look(w)
                    self.assertLessEqual(set(self.kinds(picture)), {"waits_behind", "no_deadlock"}, picture["findings"])

    def test_a_finalizer_that_does_not_go_on(self):
        for flavour, server in itertools.product(FLAVOURS, "01"):
            with self.subTest(flavour=flavour, server=server), self.hang("stuck-finalizer", flavour, {"DOTNET_gcServer": server}) as w:
                picture = self.look_until(w, "finalizers_stuck")
                self.assertEqual(self.kinds(picture), ["finalizers_stuck", "no_deadlock"], picture["findings"])
                # Some more belong to the stream that is stuck.
                self.assertGreaterEqual(picture["finalizers_wait"], w.ready["unfinalized"])
                self.assertLess(picture["finalizers_wait"], w.ready["unfinalized"] + 20)
                words = self.first_lines(w, 40)
                self.assertRegex(words, r"^Finalizers do not run: thread \d+ \"\.NET Finalizer\" waits for input or output in System\.IO\.FileStream\."
                                        r"Finalize; \d+ objects wait for their finalizers")
                self.assertRegex(words, r"Thread \d+ \"\.NET Finalizer\": waits for input or output Interop\.Sys\.Write")

    def test_a_starved_pool(self):
        for flavour in FLAVOURS:
            with self.subTest(flavour=flavour), self.hang("starved", flavour) as w:
                picture = self.look(w)
                self.assertEqual(self.kinds(picture), ["pool_starved", "no_deadlock"], picture["findings"])
                workers = [t for t in picture["threads"] if t["pool_worker"]]
                self.assertEqual(len(workers), w.ready["workers"])
                self.assertEqual({t["state"] for t in workers}, {"wait"})
                for t in workers:
                    self.assertIn(NAMESPACE + "Pool.HandleRequest", self.frames(t))
                self.assertEqual(picture["pool"], {"threads": w.ready["workers"], "min": w.ready["min"], "max": w.ready["workers"],
                                                   "queue_length": w.ready["queued"]}, picture)
                words = self.first_lines(w)
                n = w.ready["workers"]
                self.assertIn(f"Thread pool starved: {n} of {n} workers block in Task.Wait / Task.Result (sync over async)", words)
                self.assertIn(f"{w.ready['queued']} work items are queued", words)

    def test_a_spinning_thread(self):
        for flavour in FLAVOURS:
            with self.subTest(flavour=flavour), self.hang("spin", flavour) as w:
                picture = self.look(w)
                spins = [f for f in self.findings(picture) if f["kind"] == "spins"]
                self.assertEqual([f["threads"] for f in spins], [[w.ready["threads"]["spinner"]]], picture["findings"])
                thread = self.by_name(picture)["spinner"]
                self.assertIn(thread["state"], ("running", "runnable"))
                self.assertEqual(self.frames(thread)[0], NAMESPACE + "Others.SpinHard")
                self.assertGreaterEqual(picture["stopped_threads"], 1)
                self.assertGreater(picture["stopped_us"], 0)
                self.assertRegex(self.first_lines(w), r'Thread \d+ "spinner" uses \d+ % of a CPU in \S+SpinHard')

    def test_waiters_behind_an_owner_that_sleeps(self):
        for flavour in FLAVOURS:
            with self.subTest(flavour=flavour), self.hang("owner-sleeps", flavour) as w:
                picture = self.look(w)
                self.assertEqual(self.kinds(picture), ["waits_behind", "no_deadlock"], picture["findings"])
                ids = w.ready["threads"]
                self.assertEqual(sorted(picture["findings"][0]["threads"]), sorted(ids[n] for n in ids if n != "sleepy-owner"))
                threads = self.by_name(picture)
                self.assertEqual(threads["sleepy-owner"]["state"], "sleep")
                self.assertEqual(len(threads["sleepy-owner"]["holds"]), 1)
                for name in ("waiter-0", "waiter-1", "waiter-2"):
                    self.assertEqual(threads[name]["waits_for"]["owner_managed_id"], ids["sleepy-owner"], name)
                self.assertEqual(threads["chained"]["waits_for"]["owner_managed_id"], ids["waiter-0"])
                self.assertRegex(self.first_lines(w), r'4 threads wait behind thread \d+ "sleepy-owner", which holds .* and sleeps in \S+SleepWith')

    def test_a_lock_whose_owner_sleeps(self):
        for flavour in WITH_LOCK:
            with self.subTest(flavour=flavour), self.hang("lock-owner-sleeps", flavour) as w:
                threads = self.by_name(self.look(w))
                self.assertEqual(threads["waiter-0"]["waits_for"]["type"], "System.Threading.Lock")
                self.assertEqual(threads["waiter-0"]["waits_for"]["owner_thread_id"], threads["sleepy-owner"]["id"])

    def test_who_waits_for_a_pulse_waits_for_no_lock(self):
        for flavour in FLAVOURS:
            with self.subTest(flavour=flavour), self.hang("wait", flavour) as w:
                picture = self.look(w)
                self.assertEqual(self.kinds(picture), ["no_deadlock"], picture["findings"])
                waiter = self.by_name(picture)["pulse-waiter"]
                self.assertEqual((waiter["state"], waiter["waits_for"]), ("wait", None))

    def test_nothing_is_wrong(self):
        for flavour in FLAVOURS:
            with self.subTest(flavour=flavour), self.hang("fine", flavour) as w:
                picture = self.look(w)
                self.assertEqual(self.kinds(picture), ["no_deadlock"], picture["findings"])
                self.assertEqual(picture["deadlocks"], [])
                threads = self.by_name(picture)
                self.assertEqual(threads["sleeper"]["state"], "sleep")
                self.assertEqual(threads["sleeper"]["managed_id"], w.ready["threads"]["sleeper"])
                self.assertEqual(picture["pool"]["queue_length"], 0)
                self.assertEqual(picture["process"]["pid"], w.pid)

    def test_code_that_comes_and_goes_meanwhile(self):
        # What is read may be gone when the runtime's library follows it. The threads after that are shown all the same.
        for flavour in ("chaos", "chaos-net8", "chaos-net9"):
            with self.subTest(flavour=flavour), tempfile.TemporaryDirectory() as folder, \
                    self.start(flavour, "--folder", folder, "--closed-door", "--without", "Fibers", env={"TMPDIR": folder}) as w:
                w.go()
                mains = 0  # looks that have the main thread's stack, which sleeps
                for _ in range(10):
                    result = clrscope("stacks", "-p", w.pid, "--json", env={**os.environ, "TMPDIR": folder})
                    self.assertEqual(result.returncode, 0, result.stderr + result.stdout[:2000])
                    picture = json.loads(result.stdout)
                    self.assertNotRegex(" ".join(picture["notes"]), "it ended")
                    managed = [t for t in picture["threads"] if t["managed_id"] and (t["stack"] or t["error"])]
                    self.assertIn(1, [t["managed_id"] for t in managed], picture)
                    mains += any(t["managed_id"] == 1 and t["stack"] for t in managed)
                    self.assertLessEqual({"input", "managed-beat"}, {t["name"] for t in managed}, picture)
                    if not picture["notes"]:
                        self.assertIsNotNone(picture["pool"])
                self.assertGreater(mains, 0, picture)

    def test_the_program_goes_on_when_clrscope_is_killed(self):
        for mode in ("spin", "deadlock"):
            with self.subTest(mode=mode), self.hang(mode) as w:
                rng = random.Random(7)
                for _ in range(20):
                    looking = start_clrscope("stacks", "-p", w.pid)
                    time.sleep(0.15 + 0.3 * rng.random())  # it watches for 0.2 s before it looks
                    looking.send_signal(signal.SIGKILL)
                    looking.communicate()
                    self.check_goes_on(w)
                self.assertEqual(self.kinds(self.look(w))[0], "spins" if mode == "spin" else "deadlock")

    def test_another_tracer_is_told(self):
        with self.hang("spin") as w:
            seizer = subprocess.Popen([sys.executable, "-c", SEIZER, str(w.pid)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            try:
                self.assertEqual(seizer.stdout.readline().strip(), "seized")
                result = clrscope("stacks", "-p", w.pid, "--json")
                self.assert_ok(result)
                picture = json.loads(result.stdout)
                thread = next(t for t in picture["threads"] if t["name"].startswith("spinner"))
                self.assertIn(f"process {seizer.pid} traces it already", thread["error"])
                self.assertEqual(thread["managed_id"], w.ready["threads"]["spinner"])
            finally:
                seizer.communicate()
            self.check_goes_on(w)

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_another_users_process_is_refused(self):
        with self.hang("deadlock") as w:
            result = clrscope("stacks", "-p", w.pid, user=65534, group=65534, extra_groups=[])
            self.assertEqual(result.returncode, 5, result.stdout + result.stderr)
            self.assertRegex(result.stderr, r"the memory of process \d+ may not be read: process \d+ is another user's, .*; run clrscope as its user, or with the "
                                            r"capability CAP_SYS_PTRACE")
            self.check_goes_on(w)

    def test_what_is_no_dotnet_process_is_refused(self):
        with subprocess.Popen(["sleep", "60"]) as other:
            try:
                result = clrscope("stacks", "-p", other.pid)
                self.assertEqual(result.returncode, 4, result.stderr)
            finally:
                other.kill()
        self.assertEqual(clrscope("stacks").returncode, 2)
