"""tandem-cli on a CPU that has no AVX, no FMA and no F16C: it starts, and the scalar kernels give the same bits."""

import json
import os
import shutil
import subprocess
import sys
import unittest

import client

QEMU = shutil.which("qemu-x86_64")  # an instruction that the CPU lacks ends the program with SIGILL
NOT_RUN = 77  # what CTest is told where there is no qemu
WRITE_MODELS = os.environ["TANDEM_WRITE_TEXT_MODELS"]
RECIPE = os.environ["TANDEM_TINY_RECIPE"]


class OldCpu(client.CliTest):
    def on_old_cpu(self, *arguments, status=0):
        done = subprocess.run([QEMU, "-cpu", "Nehalem", client.CLI, *arguments], stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=client.TIMEOUT_S, check=False)
        self.assertEqual(done.returncode, status, done.stderr.decode(errors="replace"))
        return done

    def test_has_no_avx2(self):
        refused = self.on_old_cpu("run", "-p", "Hello", "--kernels", "avx2", "-m", self.path("none.gguf"),
                                  "--home", self.path("home"), status=2)
        self.assertIn(b"it can run: scalar (", refused.stderr)

    def test_starts(self):
        self.assertEqual(self.on_old_cpu("--version").stdout, self.run_cli("--version", home=False).stdout)

    def test_same_bits(self):
        subprocess.run([WRITE_MODELS, RECIPE, self.folder], check=True)
        for model in ("plain", "quantized"):
            command = ("run", "-p", "Hello", "--raw", "-n", "4", "--json", "-m", self.path(model + ".gguf"),
                       "--no-weight-cache", "--home", self.path("home"))
            native = self.run_cli(*command, home=False)
            self.assertEqual(native.returncode, 0, native.stderr)
            here, there = json.loads(native.stdout), json.loads(self.on_old_cpu(*command).stdout)
            self.assertEqual(there["kernels"], "scalar")
            for key in ("text", "ids", "prompt_ids", "model_fingerprint"):
                self.assertEqual(there[key], here[key], (model, key))
            fingerprint = here["stats"]["logits_fingerprint"]
            self.assertNotEqual(int(fingerprint, 16), 0)
            self.assertEqual(there["stats"]["logits_fingerprint"], fingerprint, model)


if __name__ == "__main__":
    if QEMU is None:
        sys.exit(NOT_RUN)
    unittest.main()
