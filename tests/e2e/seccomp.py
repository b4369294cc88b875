# SPDX-License-Identifier: Apache-2.0
"""System calls that fail in a child, as a container's seccomp profile makes them. Source: linux/seccomp.h, linux/filter.h, linux/prctl.h"""
import ctypes
import errno
import os
import struct

PERF_EVENT_OPEN, PROCESS_VM_READV = 298, 310  # of x86-64
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD_NUMBER, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, FAIL = 0x7FFF0000, 0x00050000


def without(system_calls, error):
    """For subprocess's preexec_fn."""
    def install():
        lines = [(LOAD_NUMBER, 0, 0, 0)]
        for call in system_calls:
            lines += [(JUMP_IF_EQUAL, 0, 1, call), (RETURN, 0, 0, FAIL | error)]
        lines.append((RETURN, 0, 0, ALLOW))
        code = b"".join(struct.pack("HBBI", *line) for line in lines)
        libc = ctypes.CDLL(None, use_errno=True)
        room = ctypes.create_string_buffer(code)
        program = struct.pack("HxxxxxxP", len(lines), ctypes.addressof(room))
        if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0) != 0:
            os._exit(99)
    return install


def without_perf(error=errno.EPERM):
    return without([PERF_EVENT_OPEN], error)


def without_memory():
    """Yama's ptrace_scope 1, or a container's seccomp profile: memory of others may not be read."""
    return without([PROCESS_VM_READV], errno.EPERM)


# What programs might ask for that the default profile of containerd and Docker refuses without a capability:
# perf_event_open, bpf, userfaultfd, add_key, request_key, keyctl, kexec_load, open_by_handle_at, fanotify_init, lookup_dcookie,
# init_module, finit_module, delete_module, swapon, swapoff, acct, quotactl. Source: moby/profiles, seccomp/default.json
REFUSED_IN_CONTAINERS = (PERF_EVENT_OPEN, 321, 323, 248, 249, 250, 246, 304, 300, 212, 175, 313, 176, 167, 168, 163, 179)


def as_in_a_container():
    return without(REFUSED_IN_CONTAINERS, errno.EPERM)
