# SPDX-License-Identifier: Apache-2.0
"""Every command of the README and of docs/examples.md does what it says: run in an empty folder, on a live process, in their order."""
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import urllib.request

CLRSCOPE, WORKLOADS = map(os.path.abspath, sys.argv[1:3])
ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
# These take minutes, and CI itself does the same.
ELSEWHERE = re.compile(r"make( demo)?|sudo make install")


def commands():
    text = ""
    for page in ("README.md", "docs/examples.md"):
        with open(os.path.join(ROOT, page), encoding="utf-8") as f:
            text += f.read()
    for block in re.findall(r"```sh\n(.*?)```", text, re.S):
        for line in block.splitlines():
            command = re.sub(r"\s+#.*", "", line).strip()
            if command:
                yield command
    for command in re.findall(r"`(clrscope [a-z]+ trace\.nettrace)`", text):
        yield command


def ask(url):
    while True:
        for path in ("/orders/20", "/text/1000", "/buffer/100000"):
            try:
                with urllib.request.urlopen(url + path) as answer:
                    answer.read()
            except OSError:  # it has ended
                return


def main():
    passed = failed = 0
    alloc = os.path.join(WORKLOADS, "alloc/alloc.dll")
    target = subprocess.Popen(["dotnet", alloc, "--seconds", "900", "--rate", "100000000"], stdout=subprocess.PIPE, text=True)
    pid = json.loads(target.stdout.readline())["ready"]
    # Programs that throw, and that wait for locks, beside it.
    others = [subprocess.Popen(["dotnet", os.path.join(WORKLOADS, *path), *arguments], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)
              for path, arguments in ((("throws", "throws.dll"), ("--storm", "200", "--seconds", "900")),
                                      (("locks", "locks.dll"), ("--seconds", "900", "--rounds", "10000", "--kinds", "monitor")))]
    # A web service that is asked for something all the time.
    web = subprocess.Popen(["dotnet", os.path.join(WORKLOADS, "web/web.dll"), "--urls", "http://127.0.0.1:0"], stdout=subprocess.PIPE, text=True)
    ready = json.loads(web.stdout.readline())
    threading.Thread(target=ask, args=(ready["url"],), daemon=True).start()
    busy = [json.loads(other.stdout.readline())["ready"] for other in others]
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(os.path.join(folder, "bin"))
        os.symlink(CLRSCOPE, os.path.join(folder, "bin/clrscope"))
        env = {**os.environ, "PATH": os.path.join(folder, "bin") + ":" + os.environ["PATH"]}
        subprocess.run(["zstd", "-dq", os.path.join(ROOT, "tests/golden/traces/03b-allocsampled-tick-csc.nettrace.zst"), "-o",
                        os.path.join(folder, "trace.nettrace")], check=True)
        for command in commands():
            if ELSEWHERE.fullmatch(command):
                continue
            # Their stand-ins: a process id, a program, and half a minute.
            real = command.replace("1234", str(pid)).replace("-d 30s", "-d 2s").replace("-d 10m", "-d 2s").replace(
                "dotnet app.dll", f"dotnet {alloc} --bytes 50000000").replace(":9464", ":0")  # which another one may have
            if "--requests" in real:
                real = real.replace(f"-p {pid}", f"-p {ready['ready']}")
            elif "--exceptions" in real:
                real = real.replace(f"-p {pid}", " ".join(f"-p {p}" for p in busy))
            if re.search(r" (watch|top|metrics) ", real):  # for ever
                real = f"timeout --preserve-status {10 if ' top ' in real else 4} {real} 2>&1"  # its first table takes some seconds
            r = subprocess.run(real, shell=True, cwd=folder, env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
            too_short = " leaks " in real and r.returncode == 3 and "too short to tell" in r.stderr  # two seconds are
            if too_short or (r.returncode == 0 and (r.stdout or " -o " in real)):
                passed += 1
            else:
                failed += 1
                print(f"FAIL {command}\n    exit code {r.returncode}\n    {r.stderr.strip()}")
        written = sorted(os.listdir(folder))
        for name in ("app.clrscope", "app.html", "app.pb.gz", "app.speedscope.json", "app.folded", "app.sqlite", "gc.html", "run.clrscope"):
            if name in written and os.path.getsize(os.path.join(folder, name)) > 0:
                passed += 1
            else:
                failed += 1
                print(f"FAIL {name} was not written")
    for process in (target, web, *others):
        process.kill()
        process.wait()
    print(f"passed={passed} failed={failed}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
