# SPDX-License-Identifier: Apache-2.0
"""What tools/release says of repositories that are made up."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class Release(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="clrscope-release-"))
        self.addCleanup(shutil.rmtree, self.dir)
        shutil.copytree(ROOT / "tools/packages", self.dir / "tools/packages")
        shutil.copy(ROOT / "tools/release", self.dir / "tools")
        shutil.copy(ROOT / ".gitignore", self.dir)
        (self.dir / "CMakeLists.txt").write_text("project(clrscope VERSION 1.2.3 LANGUAGES C)\n")
        (self.dir / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n\n- Something.\n")
        self.git("init", "--quiet")
        self.commit()

    def git(self, *words):
        subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false", *words], cwd=self.dir, check=True)

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "--quiet", "-m", "x")

    def release(self, *words):
        return subprocess.run([self.dir / "tools/release", *words], capture_output=True, text=True, check=False)

    def test_a_commit_becomes_a_release(self):
        said = self.release("check")
        self.assertEqual(said.returncode, 1)
        self.assertEqual(len(said.stderr.splitlines()), 3, said.stderr)
        for words in ("no tag v1.2.3", 'no section "1.2.3 (YYYY-MM-DD)"', "lines in Unreleased"):
            self.assertIn(words, said.stderr)
        self.assertEqual(self.release("cut").returncode, 0)
        text = (self.dir / "CHANGELOG.md").read_text()
        self.assertTrue(re.fullmatch(r"# Changelog\n\n## Unreleased\n\n## 1\.2\.3 \(\d{4}-\d\d-\d\d\)\n\n- Something\.\n", text), text)
        self.assertIn("not committed", self.release("check").stderr)
        self.commit()
        self.git("tag", "v1.2.3")
        said = self.release("check")
        self.assertEqual((said.returncode, said.stdout), (0, "this commit is 1.2.3\n"), said.stderr)
        (self.dir / "new").write_text("x")
        self.assertIn("not committed: ?? new", self.release("check").stderr)
        os.remove(self.dir / "new")
        self.assertIn("raise the version", self.release("cut").stderr)

    def test_the_tag_is_of_this_commit(self):
        self.release("cut")
        self.commit()
        self.git("tag", "v1.2.3")
        (self.dir / "more").write_text("x")
        self.commit()
        self.assertIn("no tag v1.2.3", self.release("check").stderr)
