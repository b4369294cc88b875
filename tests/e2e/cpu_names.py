# SPDX-License-Identifier: Apache-2.0
"""Names of sampled addresses beside those of the runtime's own map of its code; tests/soak/perf_map_names.py does so with more programs."""
import os

import harness
import perf_map
from harness import Case, clrscope


class CpuNames(Case):
    def test_compiled_code_is_named_as_the_runtime_does(self):
        maps = perf_map.PerfMap(self.dir)
        self.addCleanup(maps.end)
        program = os.path.join(harness.WORKLOADS, "burns", "burns.dll")
        self.assert_ok(clrscope("record", "--only", "cpu", "-q", "-o", self.path(), "--", "dotnet", program, "--seconds", "0.4",
                                env={**os.environ, **maps.environment()}))
        found = perf_map.compare(self.path(), maps.end())
        self.assertGreater(found.equal["addresses"], 30)
        for what in ("addresses", "samples"):
            self.assertGreaterEqual(found.share(what), 0.99, found.differ)
        self.assertEqual(found.methods_at_stubs, [])
