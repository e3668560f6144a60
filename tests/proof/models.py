"""The reference models, and a call of tandem-cli that gives its JSON."""
import json
import os
import subprocess
import sys

SMOLLM2 = "SmolLM2-135M-Instruct.Q4_1.gguf"
GEMMA3 = "gemma-3-270m-Q4_K_M.gguf"


def path(name):
    folder = os.environ.get("TANDEM_MODELS", "")
    model = os.path.join(folder, name)
    if not os.path.isfile(model):
        sys.exit(f"{name} is not in the folder that TANDEM_MODELS names ({folder or 'not set'})")
    return model


def call(*arguments):
    """(exit status, JSON object) of tandem-cli, the program that the first argument of the script names."""
    done = subprocess.run([sys.argv[1], *arguments, "--json"], stdout=subprocess.PIPE)
    return done.returncode, json.loads(done.stdout)
