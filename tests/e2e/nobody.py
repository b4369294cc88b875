# SPDX-License-Identifier: Apache-2.0
"""A user without privileges, for tests that are run by root."""
import os
import shutil

import harness

PREFIX = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]


def paranoid():
    with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as file:
        return int(file.read())


class Nobody:
    """Runs programs in a folder that it may write to, with copies of what it may not read elsewhere."""

    def __init__(self, folder):
        self.folder = folder
        os.chmod(folder, 0o777)
        self.env = {**os.environ, "HOME": folder, "TMPDIR": folder}
        self.clrscope = [*PREFIX, shutil.copy(harness.CLRSCOPE, folder)]

    @staticmethod
    def can():
        return os.geteuid() == 0 and shutil.which("setpriv") is not None

    def program(self, flavour):
        """The command that begins a workload."""
        folder = os.path.join(self.folder, "workloads", flavour)
        if not os.path.exists(folder):
            shutil.copytree(os.path.join(harness.WORKLOADS, flavour), folder)
        name, _, runtime = flavour.partition("-")
        native = os.path.join(folder, name)
        return [*PREFIX, *([native] if runtime else ["dotnet", native + ".dll"])]
