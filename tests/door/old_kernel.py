#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a command as on Linux 4.18: every system call that is newer is unknown (ENOSYS), to its children as well.
  old_kernel.py COMMAND [ARGUMENT]...
x86-64 only. The last call that 4.18 has is rseq, 334; newer ones begin at 424 (arch/x86/entry/syscalls/syscall_64.tbl).
"""
import ctypes
import errno
import os
import struct
import sys

LAST_CALL = 334
PIDFD_OPEN = 434  # Linux 5.3
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2  # linux/prctl.h, linux/seccomp.h
RET_KILL_PROCESS, RET_ERRNO, RET_ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
LOAD_WORD, JUMP_EQUAL, JUMP_GREATER, RETURN = 0x20, 0x15, 0x25, 0x06  # linux/filter.h
AUDIT_ARCH_X86_64 = 0xC000003E


def instruction(code, k, yes=0, no=0):
    return struct.pack("HBBI", code, yes, no, k)


FILTER = b"".join((
    instruction(LOAD_WORD, 4),  # seccomp_data.arch
    instruction(JUMP_EQUAL, AUDIT_ARCH_X86_64, yes=1),
    instruction(RETURN, RET_KILL_PROCESS),
    instruction(LOAD_WORD, 0),  # seccomp_data.nr
    instruction(JUMP_GREATER, LAST_CALL, no=1),
    instruction(RETURN, RET_ERRNO | errno.ENOSYS),
    instruction(RETURN, RET_ALLOW),
))


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]


def main():
    libc = ctypes.CDLL(None, use_errno=True)
    program = Program(len(FILTER) // 8, FILTER)
    for arguments in ((PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0)):
        if libc.prctl(*arguments) != 0:
            sys.exit(f"old_kernel.py: prctl: {os.strerror(ctypes.get_errno())}")
    if libc.syscall(PIDFD_OPEN, os.getpid(), 0) != -1 or ctypes.get_errno() != errno.ENOSYS:
        sys.exit("old_kernel.py: pidfd_open works in spite of the filter")
    os.execvp(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()
