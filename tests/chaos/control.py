# SPDX-License-Identifier: Apache-2.0
"""Peers of an agent's control socket that behave badly. None of them asks it to go."""
import glob
import os
import socket


def connect(tmp):
    """To an agent that is there; None when there is none."""
    for path in glob.glob(os.path.join(tmp, "clrscope-*")):
        peer = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        peer.settimeout(2)
        try:
            peer.connect(path)
            return peer
        except OSError:
            peer.close()
    return None


def send(peer, data):
    try:
        peer.sendall(data)
    except OSError:  # it let go of us, or takes no more: as it may
        pass


def flood(peer, dice):
    """Asks and asks, and reads no answer."""
    send(peer, b"status\n" * dice.choice([100, 5000, 50000]))


def half_close(peer, dice):
    send(peer, b"status\n" * 3)
    peer.shutdown(socket.SHUT_WR)
    try:
        while peer.recv(65536):
            pass
    except OSError:
        pass


def never_ending_line(peer, dice):
    send(peer, b"x" * dice.choice([1, 20_000, 10_000_000]))


def nonsense(peer, dice):
    send(peer, dice.randbytes(4000) + b"\nset every=0\nset \nset output\ninterval interval\n\n\n")


def begin_and_end_intervals(peer, dice):
    send(peer, b"interval\n" * 5)


def stop_and_start(peer, dice):
    send(peer, b"stop\nstart\nset every=1s\nstop\nstart\n")
    try:
        peer.recv(100)
    except OSError:
        pass


KINDS = {"floods": flood, "half-closed connections": half_close, "endless lines": never_ending_line, "nonsense": nonsense,
         "intervals asked for": begin_and_end_intervals, "stop and start": stop_and_start}
