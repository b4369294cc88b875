# SPDX-License-Identifier: Apache-2.0
"""The completion scripts in the shells that they are for, each with a process list that is known."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

PROGRAM = None  # set by cli_test.py

PROCESSES = """  PID  NAME    RUNTIME       GC           RSS       UPTIME  ATTACHABLE
 1234  orders  .NET 10.0.12  workstation  52.5 MiB  3.7 s   yes
12345  cart    .NET 8.0.33   server       52.5 MiB  3.7 s   yes
  777  cart    .NET 8.0.33   server       52.5 MiB  3.7 s   yes
"""


class Completion(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.dir)
        # The program itself, but for the processes of this machine.
        (self.dir / "clrscope").write_text(f"#!/bin/sh\n[ \"$1 $2\" = \"ps --color\" ] && exec cat {self.dir}/ps.txt\nexec {PROGRAM} \"$@\"\n")
        (self.dir / "clrscope").chmod(0o755)
        (self.dir / "ps.txt").write_text(PROCESSES)
        (self.dir / "work").mkdir()
        (self.dir / "work/app.clrscope").write_text("")
        (self.dir / "work/symbols dir").mkdir()

    def shell(self, *command):
        env = {"PATH": f"{self.dir}:{os.environ['PATH']}", "HOME": str(self.dir), "TERM": "dumb", "LC_ALL": "C.UTF-8"}
        result = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=self.dir / "work", env=env, check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
        return result.stdout.splitlines()

    def bash(self, line):
        words = line.split(" ")
        quoted = " ".join(f"'{word}'" for word in words)
        # Outside of a completion that bash itself began there is no compopt.
        return self.shell("bash", "--norc", "-c", f"""
            compopt() {{ :; }}
            source <(clrscope completion bash)
            COMP_WORDS=({quoted}) COMP_CWORD={len(words) - 1}
            _clrscope
            printf '%s\\n' "${{COMPREPLY[@]}}\"""")

    def fish(self, line):
        return self.shell("fish", "--no-config", "-c", f"clrscope completion fish | source; complete -C '{line}'")

    def zsh(self, line):
        # compadd tells what it is given; descriptions are of _describe.
        return self.shell("zsh", "-f", "-c", f"""
            autoload -U compinit; compinit -u -D
            eval "$(clrscope completion zsh)"
            _describe() {{ print -l -- ${{(P)@[-1]}}; }}
            compadd() {{ [[ $1 == -- ]] && shift; print -l -- ${{(M)@:#${{words[CURRENT]}}*}}; }}
            _files() {{ print files $1; }}
            _command_names() {{ print commands; }}
            words=({' '.join(f'"{word}"' for word in line.split(' '))}) CURRENT={len(line.split(' '))}
            _clrscope""")

    def test_bash(self):
        self.assertEqual(self.bash("clrscope rec"), ["record"])
        self.assertIn("--max-overhead", self.bash("clrscope record --max"))
        self.assertEqual(self.bash("clrscope record -p "), ["1234  (orders)", "12345  (cart)", "777  (cart)"])
        self.assertEqual(self.bash("clrscope record -p 7"), ["777"])
        self.assertEqual(self.bash("clrscope record -n ord"), ["orders"])
        self.assertEqual(self.bash("clrscope record --sampler k"), ["kernel"])
        self.assertEqual(self.bash("clrscope record --requests"), ["--requests", "--requests=all"])
        self.assertEqual(self.bash("clrscope report a"), ["app.clrscope"])
        self.assertEqual(self.bash("clrscope report x --symbols s"), ["symbols dir"])
        self.assertEqual(self.bash("clrscope doctor 12"), ["1234  (orders)", "12345  (cart)"])
        self.assertEqual(self.bash("clrscope completion z"), ["zsh"])
        self.assertIn("true", self.bash("clrscope record -- tru"))
        self.assertEqual(self.bash("clrscope record -- true --max"), [""])

    @unittest.skipUnless(shutil.which("fish"), "no fish")
    def test_fish(self):
        self.assertEqual([line.split("\t")[0] for line in self.fish("clrscope rec")], ["record"])
        self.assertIn("--max-overhead", self.fish("clrscope record --max"))
        self.assertEqual(sorted(self.fish("clrscope record -p ")), ["1234\torders", "12345\tcart", "777\tcart"])
        self.assertEqual(self.fish("clrscope record -n ord"), ["orders"])
        self.assertEqual(self.fish("clrscope record --sampler k"), ["kernel"])
        self.assertEqual(self.fish("clrscope report a"), ["app.clrscope"])
        self.assertEqual(self.fish("clrscope completion z"), ["zsh"])

    @unittest.skipUnless(shutil.which("zsh"), "no zsh")
    def test_zsh(self):
        self.assertIn("record:record the allocations of running processes, or of a command", self.zsh("clrscope rec"))
        self.assertIn("--max-overhead", self.zsh("clrscope record --max"))
        self.assertEqual(self.zsh("clrscope record -p 1"), ["1234:orders", "12345:cart", "777:cart"])
        self.assertEqual(self.zsh("clrscope record -n x"), ["orders", "cart", "cart"])
        self.assertEqual(self.zsh("clrscope record --sampler k"), ["kernel"])
        self.assertEqual(self.zsh("clrscope report a"), ["files"])
        self.assertEqual(self.zsh("clrscope report x --symbols s"), ["files -/"])

    def test_every_verb_lists_its_options(self):
        for verb in ("ps", "doctor", "record", "watch", "top", "stacks", "metrics", "report", "gcstats", "leaks", "diff",
                     "convert", "query", "attach", "detach", "status", "env", "inspect", "completion"):
            lines = self.shell("clrscope", verb, "--list-options")
            self.assertTrue(all(line.count("\t") == 2 for line in lines), verb)
            self.assertIn("-h --help\t\t", lines, verb)
