# SPDX-License-Identifier: Apache-2.0
"""What a program that crashed or hangs was doing: the stacks of all its threads, by gdb."""
import glob
import os
import re
import shutil
import subprocess


def agent_base(pid):
    """Where the agent's library lies in a process; None when it does not."""
    try:
        with open(f"/proc/{pid}/maps", encoding="utf-8") as file:
            return next((int(line.split("-")[0], 16) for line in file if "clrscope-agent" in line), None)
    except OSError:
        return None


def stacks(what, to, base, library):
    """gdb's words about `what` (arguments that name a process or a core) into the file `to`. A sentence on it."""
    if shutil.which("gdb") is None:
        return "there is no gdb, so no stacks were kept"
    command = ["gdb", "-batch", "-nx", "-iex", "set debuginfod enabled off", "-iex", "set pagination off", *what]
    if base is not None and os.path.exists(library):  # the file that was loaded is deleted
        command += ["-ex", f"add-symbol-file {library} -o {base:#x}"]
    command += ["-ex", "info threads", "-ex", "bt 60", "-ex", "info registers", "-ex", "thread apply all bt 60"]
    try:
        with open(to, "w", encoding="utf-8") as file:
            subprocess.run(command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        return f"gdb took too long; what it said is in {to}"
    return f"stacks in {to}{summary(to)}"


def summary(path):
    """The threads that are in the agent, but for its own, by its outermost function."""
    found, name = set(), ""
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith("Thread "):
                name = line.split('"')[1] if '"' in line else "?"
            elif line.startswith("#") and (agent := re.search(r"clrscope::agent::([\w:]+)", line)) and name and \
                    not name.startswith("clrscope"):
                found.add(f"{name} in {agent[1]}")
                name = ""
    return f" ({', '.join(sorted(found))})" if found else ""


def of_process(pid, to, library):
    return stacks(["-p", str(pid)], to, agent_base(pid), library)


def core_of(pid, to):
    """A core of a process that goes on. A sentence on it."""
    if shutil.which("gdb") is None:
        return "there is no gdb, so no core was kept"
    command = ["gdb", "-batch", "-nx", "-iex", "set debuginfod enabled off", "-p", str(pid), "-ex", f"generate-core-file {to}"]
    try:
        said = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False).stderr
    except subprocess.TimeoutExpired:
        return "gdb took too long to write a core"
    return f"the core is {to}" if os.path.exists(to) else f"no core was written: {said.strip()[-200:]}"


def of_core(program, folder, to, base, library):
    """The newest core in `folder`."""
    cores = sorted(glob.glob(os.path.join(folder, "core*")), key=os.path.getmtime)
    if not cores:
        with open("/proc/sys/kernel/core_pattern", encoding="utf-8") as file:
            return f"no core was written (core_pattern is {file.read().strip()})"
    return stacks([program, cores[-1]], to, base, library) + f", the core is {cores[-1]}"
