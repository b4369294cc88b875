# SPDX-License-Identifier: Apache-2.0
"""Names of native frames, beside those of binutils, on programs that are recorded."""
import bisect
import collections
import contextlib
import http.server
import json
import os
import re
import shutil
import sqlite3
import ssl
import subprocess
import threading
import unittest.mock

import harness
from harness import Case, clrscope, report

# A C library of a program's own: its memset takes time in a function that only .symtab names.
SOURCE = """
static __attribute__((noinline)) void* hidden_burner(void* to, int c, unsigned long n) {
  volatile char* p = to;
  for (unsigned long i = 0; i < n; ++i) p[i] = (char)c;
  return to;
}
void* memset(void* to, int c, unsigned long n) {
  void* volatile result = hidden_burner(to, c, n);
  return result;
}
"""


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def build_id(path):
    return re.search(r"Build ID: ([0-9a-f]+)", run("readelf", "-n", path)).group(1)


def separate_file(identity):
    return f"/usr/lib/debug/.build-id/{identity[:2]}/{identity[2:]}.debug"


def without_clone(name):
    return re.sub(r"\.(part|isra|constprop|cold)(\.\d+)?", "", name)


class Functions:
    """Of a file, as `nm -C` has them: all names of each."""

    def __init__(self, path):
        names = collections.defaultdict(set)
        sizes = {}
        for line in run("nm", "-C", "-S", "--defined-only", path).splitlines():
            found = re.match(r"([0-9a-f]+) ([0-9a-f]+) [tTwWi] (.*)", line)
            if found:
                start = int(found.group(1), 16)
                sizes[start] = max(sizes.get(start, 0), int(found.group(2), 16))
                names[start].add(found.group(3).split("@")[0])
        self.starts = sorted(names)
        self.names, self.sizes = names, sizes

    def aliases(self, name, address):
        """`name`, if a function of that name has that address in it: debug information may know another one of its names."""
        return {name for start in self.starts if name in self.names[start] and start <= address < start + self.sizes[start]}

    def at(self, address):
        index = bisect.bisect_right(self.starts, address) - 1
        if index < 0 or address >= self.starts[index] + self.sizes[self.starts[index]]:
            return set()
        return self.names[self.starts[index]]


def code_address(path, offset):
    """Where a byte of the file is in memory, from its base on."""
    for line in run("readelf", "-lW", path).splitlines():
        words = line.split()
        if words[:1] == ["LOAD"] and "E" in line.split("0x")[-2]:
            start, address, size = (int(w, 16) for w in (words[1], words[2], words[4]))
            if start <= offset < start + size:
                return address + offset - start
    return None


class Symbols:
    """A symbol server, as the protocol has it, of the files that it is given; HTTPS with a certificate of its own making."""

    def __init__(self, folder):
        self.files, self.asked = {}, []
        key, self.certificate = os.path.join(folder, "key.pem"), os.path.join(folder, "certificate.pem")
        run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", self.certificate,
            "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost")
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                outer.asked.append(self.path)
                body = outer.files.get(self.path)
                self.send_response(404 if body is None else 200)
                self.send_header("Content-Length", str(len(body or b"")))
                self.end_headers()
                self.wfile.write(body or b"")

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, key)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = f"https://localhost:{self.server.server_address[1]}/symbols"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def end(self):
        self.server.shutdown()
        self.server.server_close()


class NativeNames(Case):
    def burn(self, folder, kinds, *options, seconds=1):
        """A recording of the workload in `folder`, a new file each time."""
        self.recordings = getattr(self, "recordings", 0) + 1
        name, _, runtime = os.path.basename(folder).partition("-")
        program = os.path.join(folder, name)
        command = [program] if runtime else ["dotnet", program + ".dll"]
        path = self.path(f"{self.recordings}.clrscope")
        result = clrscope("record", "--only", "cpu", "-o", path, *options, "--", *command, "--seconds", seconds, "--kinds", kinds, timeout=120)
        if "the kernel's sampler is" in result.stderr:
            self.skipTest(result.stderr.strip())
        self.assert_ok(result)
        return path, json.loads(result.stdout.splitlines()[-1])

    def methods(self, path, *options):
        return {row["method"]: row for row in report(path, "--measure", "cpu", "--by", "method", "-n", "0", *options)["rows"]}

    def addresses(self, path, module):
        """Of a file: its path, and the names that addresses in it have, by where they lie in it."""
        with contextlib.closing(sqlite3.connect(path)) as db:
            start, end, offset, file = next(row for row in db.execute("select start, end, file_offset, path from mapping")
                                            if os.path.basename(row[3]) == module)
        rows = json.loads(clrscope("query", path, "--json", f"select address, method from addresses where module = '{module}'").stdout)["rows"]
        return file, {row["address"] - start + offset: row["method"] for row in rows if start <= row["address"] < end}

    def test_functions_of_the_c_library(self):
        for flavour in ("burns", "burns-net8"):
            with self.subTest(flavour):
                path, truth = self.burn(os.path.join(harness.WORKLOADS, flavour), "native,kernel,back")
                file, names = self.addresses(path, "libc.so.6")
                symbols = separate_file(build_id(file))
                if not os.path.exists(symbols):
                    self.skipTest("libc6-dbg is not installed")
                functions = Functions(symbols)
                wrong, named = [], 0
                for offset, name in names.items():
                    address = code_address(file, offset)
                    expected = functions.at(address)
                    named += bool(expected)
                    if name not in (expected or {"libc.so.6"}):
                        wrong.append((hex(address), name, expected))
                        continue
                    if expected:  # of inlined functions the one that they are in; "??" in what was written in assembly
                        outermost = run("addr2line", "-f", "-i", "-e", symbols, hex(address)).splitlines()[-2]
                        self.assertIn(outermost, {"??", *expected, *map(without_clone, expected), *functions.aliases(outermost, address)}, name)
                self.assertEqual(wrong, [])
                self.assertGreater(named, 3)
                memset = [row for name, row in self.methods(path).items() if "memset" in name and row["module"] == "libc.so.6"]
                self.assertGreater(sum(row["self_cpu_ns"] for row in memset), 0.8 * truth["methods"]["Native"])
                self.assertEqual({row["kind"] for row in memset}, {"native"})

    def test_of_a_program_that_is_over_within_a_second(self):
        path, _ = self.burn(os.path.join(harness.WORKLOADS, "burns"), "native", seconds=0.2)
        self.assertTrue(any(row["module"] == "libc.so.6" and row["self_cpu_ns"] > 50e6 for row in self.methods(path).values()))

    def own_library(self, flavour="burns"):
        """A copy of `burns` whose DllImport("libc") finds a stripped library in its folder; its symbols apart."""
        for tool in ("cc", "objcopy", "readelf"):
            if shutil.which(tool) is None:
                self.skipTest(f"no {tool}")
        folder = self.path(flavour)
        shutil.copytree(os.path.join(harness.WORKLOADS, flavour), folder)
        source, whole, symbols = self.path("burner.c"), self.path("whole.so"), self.path("libc.so.debug")
        with open(source, "w", encoding="ascii") as out:
            out.write(SOURCE)
        library = os.path.join(folder, "libc.so")
        run("cc", "-O1", "-fno-builtin", "-g", "-shared", "-fPIC", "-Wl,--build-id", source, "-o", whole, "-Wl,--no-as-needed", "-lc")
        run("objcopy", "--only-keep-debug", whole, symbols)
        run("objcopy", "--strip-all", f"--add-gnu-debuglink={symbols}", whole, library)
        return folder, library, symbols

    def test_callers_of_a_program_that_is_over_at_once(self):
        """Its methods are told of when it has ended, and its code cannot be read any more."""
        folder, _, _ = self.own_library()
        for _ in range(8):
            path, _ = self.burn(folder, "native", seconds=0.2)
            methods = self.methods(path)
            burnt = methods["libc.so"]["self_cpu_ns"]
            self.assertGreater(burnt, 100e6)
            self.assertGreater(methods["Clrscope.Workloads.Burns.Kinds.Native"]["total_cpu_ns"], 0.9 * burnt)

    def test_code_that_is_mapped_between_two_looks_and_gone_at_the_next(self):
        """What is mapped is looked at 0.2 and 0.6 s after the start, and without precompiled code the program needs more than 0.2 s to start."""
        folder, _, _ = self.own_library()
        with unittest.mock.patch.dict(os.environ, DOTNET_ReadyToRun="0", DOTNET_TieredCompilation="0"):
            for seconds in (0.05, 0.1, 0.15):
                path, truth = self.burn(folder, "native", "--rate", "997", seconds=seconds)
                burnt = truth["methods"]["Native"]
                self.assertGreater(self.methods(path).get("libc.so", {}).get("self_cpu_ns", 0), 0.8 * burnt, seconds)

    def test_symbols_that_are_apart(self):
        """Beside the library, in the user's folder, and on a symbol server: by report, pprof and SQL."""
        folder, library, symbols = self.own_library()
        path, truth = self.burn(folder, "native")
        self.assertNotIn("hidden_burner", set(self.methods(path)))
        given = self.path("given")
        os.mkdir(given)
        shutil.copy(symbols, given)
        found = self.methods(path, "--symbols", given)["hidden_burner"]
        self.assertEqual((found["module"], found["kind"]), ("libc.so", "native"))
        self.assertGreater(found["self_cpu_ns"], 0.8 * truth["methods"]["Native"])
        # Its caller is told by the library's unwind tables, which are read from the process: a recorder that got no processor until that
        # had ended has samples without callers, and counts them.
        whole = report(path, "--measure", "cpu", "--by", "method", "-n", "0", "--symbols", given)
        caller = sum(row["total_cpu_ns"] for row in whole["rows"] if row["method"] == "memset")
        missed = harness.loss(whole, "cpu_callers_missed")
        of_a_sample = whole["totals"]["cpu_ns"] / whole["totals"]["samples"]
        self.assertGreater(caller + missed * of_a_sample, 0.8 * truth["methods"]["Native"], whole["losses"])
        rows = clrscope("query", path, "--symbols", given, "--csv", "select method from addresses where module = 'libc.so'").stdout
        self.assertIn("hidden_burner", rows)
        pprof = self.path("x.pb")
        self.assert_ok(clrscope("convert", path, "-o", pprof, "--symbols", given))
        with open(pprof, "rb") as file:
            content = file.read()
        for text in ("hidden_burner", library, build_id(library)):
            self.assertIn(text.encode(), content)
        self.assertEqual(clrscope("report", path, "--symbols", self.path("nowhere")).returncode, 2)
        # Where the library says that they are, when they are there: in the capture itself.
        shutil.copy(symbols, folder)
        again, _ = self.burn(folder, "native")
        os.remove(os.path.join(folder, os.path.basename(symbols)))
        self.assertIn("hidden_burner", set(self.methods(again)))
        # Those of another build are not taken.
        run("cc", "-O2", "-fno-builtin", "-g", "-shared", "-fPIC", "-Wl,--build-id", self.path("burner.c"), "-o", os.path.join(given, "libc.so.debug"))
        self.assertNotIn("hidden_burner", set(self.methods(path, "--symbols", given)))

    def test_a_symbol_server(self):
        if shutil.which("openssl") is None:
            self.skipTest("no openssl")
        folder, library, symbols = self.own_library()
        path, _ = self.burn(folder, "native")
        server = Symbols(self.dir)
        self.addCleanup(server.end)
        key = f"/symbols/_.debug/elf-buildid-sym-{build_id(library)}/_.debug"
        with open(symbols, "rb") as file:
            server.files[key] = file.read()
        environment = {**os.environ, "XDG_CACHE_HOME": self.path("cache"), "SSL_CERT_FILE": server.certificate}

        def ask(*options, env=environment):
            result = clrscope("report", path, "--by", "method", "-n", "0", "--json", *options, env=env)
            self.assert_ok(result)
            return {row["method"] for row in json.loads(result.stdout)["rows"]}, result.stderr

        self.assertNotIn("hidden_burner", ask()[0])
        self.assertEqual(server.asked, [], "nothing leaves the machine unasked")
        self.assertIn("hidden_burner", ask("--symbol-server", server.url)[0])
        self.assertIn(key, server.asked)
        asked = len(server.asked)
        self.assertIn("hidden_burner", ask("--symbol-server", server.url)[0])
        self.assertEqual(len(server.asked), asked, "what came is kept, and so is what did not")
        # Somebody else's certificate; nobody there.
        names, said = ask("--symbol-server", server.url, env={**environment, "XDG_CACHE_HOME": self.path("other"), "SSL_CERT_FILE": "/etc/ssl/certs/ca-certificates.crt"})
        self.assertNotIn("hidden_burner", names)
        self.assertIn("localhost", said)
        self.assertIn("certificate", said)
        server.end()
        names, said = ask("--symbol-server", server.url, env={**environment, "XDG_CACHE_HOME": self.path("other")})
        self.assertNotIn("hidden_burner", names)
        self.assertIn("cannot be reached", said)
        self.assertIn("hidden_burner", ask("--symbol-server", server.url)[0])
        self.assertEqual(clrscope("report", path, "--symbol-server", "http://example.com/").returncode, 2)
