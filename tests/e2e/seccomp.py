# SPDX-License-Identifier: Apache-2.0
"""System calls that fail in a child, as a container's seccomp profile makes them. Source: linux/seccomp.h, linux/filter.h, linux/prctl.h"""
import ctypes
import errno
import os
import struct

PERF_EVENT_OPEN, PROCESS_VM_READV, PTRACE, PRCTL = 298, 310, 101, 157  # of x86-64
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
PR_SET_PTRACER = 0x59616D61
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
NUMBER, FIRST, SECOND = 0, 16, 24  # of seccomp_data: the call and the low halves of its arguments
ALLOW, FAIL = 0x7FFF0000, 0x00050000


def filtered(lines):
    """A filter's lines, for subprocess's preexec_fn."""
    def install():
        code = b"".join(struct.pack("HBBI", *line) for line in lines)
        libc = ctypes.CDLL(None, use_errno=True)
        room = ctypes.create_string_buffer(code)
        program = struct.pack("HxxxxxxP", len(lines), ctypes.addressof(room))
        if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0) != 0:
            os._exit(99)
    return install


def without(system_calls, error):
    """For subprocess's preexec_fn."""
    lines = [(LOAD, 0, 0, NUMBER)]
    for call in system_calls:
        lines += [(JUMP_IF_EQUAL, 0, 1, call), (RETURN, 0, 0, FAIL | error)]
    return filtered([*lines, (RETURN, 0, 0, ALLOW)])


def only_ptracer(pid):
    """PR_SET_PTRACER works for this process, and fails for any other, whatever the kernel knows of it. For subprocess's preexec_fn."""
    return filtered([(LOAD, 0, 0, NUMBER), (JUMP_IF_EQUAL, 0, 5, PRCTL), (LOAD, 0, 0, FIRST), (JUMP_IF_EQUAL, 0, 3, PR_SET_PTRACER),
                     (LOAD, 0, 0, SECOND), (JUMP_IF_EQUAL, 2, 0, pid), (RETURN, 0, 0, FAIL | errno.EPERM), (RETURN, 0, 0, ALLOW),
                     (RETURN, 0, 0, FAIL)])


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
