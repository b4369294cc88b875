# SPDX-License-Identifier: Apache-2.0
"""What tests ask of a pprof file, by the field numbers of github.com/google/pprof proto/profile.proto."""
import gzip


def _varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def _fields(data):
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        if key & 7 == 0:
            value, at = _varint(data, at)
        elif key & 7 == 2:
            size, at = _varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            raise ValueError(f"wire type {key & 7}")
        yield key >> 3, value


def _packed(data):
    at = 0
    while at < len(data):
        value, at = _varint(data, at)
        yield value


class PprofFile:
    """sample_types ["alloc_space/bytes", …], default_type, period, comments, names {system name: name},
    main_module, and samples: each ([value, …], {label: text, number or (number, unit)})."""

    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        if data.startswith(b"\x1f\x8b"):
            data = gzip.decompress(data)
        fields = list(_fields(data))
        strings = [value.decode() for tag, value in fields if tag == 6]

        def messages(tag):
            return [dict(_fields(value)) for t, value in fields if t == tag]

        def number(tag):
            return next((value for t, value in fields if t == tag), 0)
        self.sample_types = [f"{strings[m[1]]}/{strings[m[2]]}" for m in messages(1)]
        self.default_type = strings[number(14)]
        self.period = number(12)
        self.comments = [strings[value] for t, value in fields if t == 13]
        self.names = {strings[m[3]]: strings[m[2]] for m in messages(5)}
        self.main_module = strings[messages(3)[0][5]]
        self.samples = []
        for sample in (list(_fields(value)) for t, value in fields if t == 2):
            labels = {}
            for label in (dict(_fields(value)) for t, value in sample if t == 3):
                unit = strings[label.get(4, 0)]
                number = (label.get(3, 0), unit) if unit else label.get(3, 0)
                labels[strings[label[1]]] = strings[label[2]] if 2 in label else number
            self.samples.append((list(_packed(dict(sample)[2])), labels))

    def values_of(self, key):
        return {labels[key] for _, labels in self.samples if key in labels}
