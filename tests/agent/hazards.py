# SPDX-License-Identifier: Apache-2.0
"""The agent where it could do harm: locks on the program's threads, disks that stall, a runtime that refuses."""
import json
import os
import signal
import socket
import struct
import threading
import time

from agent_case import FLAVOURS, AgentCase, agent_threads, status
import harness
from harness import clrscope, start_clrscope, wait_until


class Session:
    """An EventPipe session on a process, read and dropped. `refused` when the runtime has no more to give."""

    def __init__(self, pid, folder):
        self.path = next(os.path.join(folder, f) for f in os.listdir(folder) if f.startswith(f"dotnet-diagnostic-{pid}-"))
        name = "Nobody\0"
        provider = struct.pack("<QII", 1, 1, len(name)) + name.encode("utf-16-le") + struct.pack("<I", 0)
        payload = struct.pack("<IIBI", 1, 1, 0, 1) + provider
        self.socket, head = self.ask(3, payload)
        self.refused = len(head) < 28 or head[16:18] != b"\xff\x00"
        self.id = head[20:28]
        self.thread = threading.Thread(target=self.drain, daemon=True)
        self.thread.start()

    def ask(self, command, payload):
        """A command of EventPipe's: the connection, and the 28 bytes of its answer."""
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(self.path)
        connection.sendall(b"DOTNET_IPC_V1\0" + struct.pack("<HBBH", 20 + len(payload), 2, command, 0) + payload)
        return connection, connection.recv(28, socket.MSG_WAITALL)

    def drain(self):
        try:
            while self.socket.recv(65536):
                pass
        except OSError:
            pass

    def close(self):
        if not self.refused:
            self.ask(1, self.id)[0].close()
        self.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join(5)
        self.socket.close()


class Hazards(AgentCase):
    def counted(self, flavour, *args, chaos=False):
        """What the agent called of the C library's allocator and locks on the program's threads. What the runtime does for it there
        (CreateHandle, DoStackSnapshot) is called by the runtime, and not counted."""
        library = os.path.join(os.path.dirname(harness.CLRSCOPE), "..", "lib", "libcount-calls.so")
        counts = self.path(f"{flavour}.json")
        work = self.workload(flavour, *args, env={"LD_PRELOAD": os.path.abspath(library), "CLRSCOPE_CALLS": counts})
        self.assert_ok(clrscope("attach", "-p", work.pid, "--every", "1s"))
        work.go()
        if chaos:
            wait_until(lambda: status(work.pid)["samples"] > 1000, 60, "it samples")
            work.go()
        work.truth()
        state = status(work.pid)
        self.assert_ok(clrscope("detach", "-p", work.pid))
        work.process.stdin.close()
        self.assertEqual(work.process.wait(30), 0)
        with open(counts, encoding="utf-8") as file:
            told = json.load(file)
        self.assertGreater(state["samples"], 1000)
        self.assertTrue(told["found"])
        self.assertGreater(told["others"], 100, "calls are counted: those of its own threads")
        self.assertEqual((told["malloc"], told["lock"], told["thread_local"]), (0, 0, 0), told)
        self.assertGreater(told["registered"], 0, "the first event of its sessions' thread")
        self.assertEqual(told["registered_in_managed_code"], 0, "where a collection may wait for the loader's lock")

    def test_no_lock_and_no_allocation_on_the_programs_threads(self):
        for flavour in FLAVOURS:
            with self.subTest(flavour):
                self.counted(flavour, "--mode", "generic", "--threads", "4", "--rate", "max", "--bytes", "1e9", "--seconds", "30",
                             "--start-on-stdin", "--hold-on-stdin")

    def test_nor_where_callers_of_async_methods_are_followed(self):
        for flavour in ("awaits", "awaits-net9", "awaits-net8"):
            with self.subTest(flavour):
                self.counted(flavour, "--seconds", "5", "--start-on-stdin", "--hold-on-stdin")

    def test_nor_on_threads_that_come_and_go(self):
        """The pool's, native ones that enter managed code, and those that just end."""
        others = "Allocations,Assemblies,Lambdas,Libraries,Forks,Fibers,Exceptions,Signals,Collections"
        for flavour in ("chaos", "chaos-net9", "chaos-net8"):
            with self.subTest(flavour):
                self.counted(flavour, "--folder", self.dir, "--closed-door", "--without", others, "--seconds", "60", chaos=True)

    def test_sigterm_ends_it_while_the_disk_stalls(self):
        for flavour in FLAVOURS:
            with self.subTest(flavour):
                folder = os.path.join(self.dir, flavour)
                os.mkdir(folder)
                os.mkfifo(os.path.join(folder, "x.pb.part"))  # to open it waits for ever
                work = self.workload(flavour, "--rate", "100e6", "--seconds", "60", "--start-on-stdin")
                work.go()
                self.assert_ok(clrscope("attach", "-p", work.pid, "--every", "1s", "-o", os.path.join(folder, "x.pb")))
                wait_until(lambda: status(work.pid)["files_waiting"] > 1, 60, "the disk stalls")
                work.process.terminate()
                # The agent waits for a disk for two seconds at the signal, and for two at the program's end, and not for ever; the rest is
                # the runtime's own end, on a machine that may be busy.
                self.assertIn(work.process.wait(30), (-signal.SIGTERM, 143))

    def test_a_stalled_disk_is_told_and_detaching_does_not_wait(self):
        folder = os.path.join(self.dir, "spool")
        os.mkdir(folder)
        os.mkfifo(os.path.join(folder, "x.pb.part"))
        work = self.workload("alloc", "--rate", "100e6", "--seconds", "60", "--start-on-stdin")
        work.go()
        self.assert_ok(clrscope("attach", "-p", work.pid, "--every", "1s", "-o", os.path.join(folder, "x.pb")))
        wait_until(lambda: status(work.pid)["files_dropped"] > 0, 40, "files are dropped")
        self.assertIn("the disk is too slow", clrscope("status", "-p", work.pid).stdout)
        samples = status(work.pid)["samples"]
        wait_until(lambda: status(work.pid)["samples"] > samples, 60, "it samples meanwhile")
        begin = time.monotonic()
        self.assert_ok(clrscope("detach", "-p", work.pid))
        self.assertLess(time.monotonic() - begin, 30, "the disk stands for ever")
        wait_until(lambda: agent_threads(work.pid) == 0, 60, "its thread ended")
        with open(os.path.join(folder, "x.pb.part"), "rb") as pipe:  # the disk goes on
            pipe.read()
        self.assertIsNone(work.process.poll())

    def test_managed_code_on_fibers(self):
        """Stacks of 256 KB with guards on both sides. Without a GC, as the runtime does not find objects on such a stack."""
        others = "Allocations,Assemblies,Lambdas,Libraries,Forks,Threads,Exceptions,Signals,Collections"
        for flavour in ("chaos", "chaos-net9", "chaos-net8"):
            with self.subTest(flavour):
                work = self.workload(flavour, "--folder", self.dir, "--closed-door", "--without", others, "--seconds", "60",
                                     env={"DOTNET_GCgen0size": "0x40000000"})
                self.assert_ok(clrscope("attach", "-p", work.pid, "--every", "1s"))
                work.go()
                wait_until(lambda: status(work.pid)["samples"] > 200, 60, "it samples")
                self.assert_ok(clrscope("detach", "-p", work.pid))
                work.go()  # a line ends it
                told = work.truth()
                self.assertEqual(told["different"], 0)
                self.assertGreater(told["events"]["calls on a fiber"], 100)
                work.end()

    def test_a_first_start_that_fails_says_why_at_once(self):
        work = self.workload("alloc", "--rate", "100e6", "--seconds", "120", "--start-on-stdin")
        work.go()
        sessions = []
        while len(sessions) < 100 and not (sessions and sessions[-1].refused):
            sessions.append(Session(work.pid, self.tmp))
        self.assertTrue(sessions[-1].refused, "a runtime has 64")
        for args in (["attach", "-p", work.pid], ["record", "-p", work.pid, "--live", "-d", "1s", "-o", self.path("x.clrscope")]):
            begin = time.monotonic()
            result = clrscope(*args)
            self.assertEqual(result.returncode, 6, result.stderr)
            self.assertIn("EventPipeStartSession", result.stderr)
            self.assertLess(time.monotonic() - begin, 30)
            wait_until(lambda: agent_threads(work.pid) == 0, 60, "it let go")
        for session in sessions:
            session.close()
        self.assert_ok(clrscope("attach", "-p", work.pid))
        wait_until(lambda: status(work.pid)["samples"] > 0, 60, "it samples")
        self.assertEqual(status(work.pid)["failure"], "")
        self.assert_ok(clrscope("detach", "-p", work.pid))

    def test_an_exact_recording_ends_and_asks_for_no_more_calls(self):
        for flavour in FLAVOURS:
            with self.subTest(flavour):
                folder = os.path.join(harness.WORKLOADS, flavour)
                program = ["dotnet", os.path.join(folder, "alloc.dll")] if flavour == "alloc" else [os.path.join(folder, "alloc")]
                recorder = start_clrscope("record", "--exact", "-d", "2s", "-o", self.path(flavour + ".clrscope"), "--", *program,
                                          "--rate", "50e6", "--seconds", "60")
                pid = json.loads(recorder.stdout.readline())["ready"]
                wait_until(lambda: (status(pid) or {}).get("stopped"), 60, "it has stopped")
                before = status(pid)
                self.assertFalse(before["sampling"])
                time.sleep(1.5)
                after = status(pid)
                self.assertEqual(after["samples"], before["samples"])
                refused = clrscope("detach", "-p", pid)
                self.assertEqual(refused.returncode, 6)
                self.assertIn("the runtime lets none go", refused.stderr)
                os.kill(pid, signal.SIGTERM)
                _, words = recorder.communicate(timeout=60)
                self.assertIn("slow allocation", words)
                rows = harness.report(self.path(flavour + ".clrscope"), "--by", "type")
                self.assertEqual((rows["event"], rows["exact"]), ("ObjectAllocated", True))
