"""Drives tandem-cli as a script would. The program is named by TANDEM_CLI, the models' folder by TANDEM_MODELS."""

import json
import os
import subprocess
import tempfile
import unittest

CLI = os.environ["TANDEM_CLI"]
SMOLLM2 = os.path.join(os.environ.get("TANDEM_MODELS", ""), "SmolLM2-135M-Instruct.Q4_1.gguf")
GEMMA3 = os.path.join(os.environ.get("TANDEM_MODELS", ""), "gemma-3-270m-Q4_K_M.gguf")
TIMEOUT_S = 240


class CliTest(unittest.TestCase):
    """A folder for each test, and what every test asks of the program."""

    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data.encode() if isinstance(data, str) else data)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def run_cli(self, *arguments, stdin=b"", home=True):
        command = [CLI, *arguments] + (["--home", self.path("home")] if home else [])
        return subprocess.run(command, input=stdin, capture_output=True, timeout=TIMEOUT_S, check=False)

    def good(self, *arguments, stdin=b""):
        """Runs on SmolLM2 and expects success."""
        done = self.run_cli(*arguments, "-m", SMOLLM2, stdin=stdin)
        self.assertEqual(done.returncode, 0, done.stderr.decode(errors="replace"))
        return done

    def good_json(self, *arguments, stdin=b""):
        return json.loads(self.good(*arguments, "--json", stdin=stdin).stdout)

    def bad(self, *arguments, stdin=b"", home=True):
        """Expects status 2 and one line that says why; returns the line."""
        done = self.run_cli(*arguments, stdin=stdin, home=home)
        text = done.stderr.decode(errors="replace")
        self.assertEqual(done.returncode, 2, text)
        self.assertEqual(text.count("\n"), 1, text)
        self.assertTrue(text.startswith("tandem-cli: "), text)
        self.assertEqual(done.stdout, b"")
        return text


def main():
    for path in (SMOLLM2, GEMMA3):
        if not os.path.exists(path):
            raise SystemExit(path + " is missing: TANDEM_MODELS must name the folder of the reference models; "
                             "./test fetches them")
    unittest.main()
