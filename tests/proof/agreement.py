"""A part of the gate on both reference models that fits every run of the tests; tests/agreement/full.sh is the whole."""
import os
import sys
import tempfile

import models

# Of the thirty prompts: one of each kind, with something in it to look up.
LINES = (5, 14, 26)
DRAFTERS = "own-text,store,half-right,wrong,oracle,random"
SHAPES = "chain7,chain15,tree15,tree31"
TOKENS = 24

folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "agreement")
with open(os.path.join(folder, "prompts.txt"), encoding="utf-8") as file:
    lines = file.read().splitlines()
wrong = []
with tempfile.TemporaryDirectory() as home:
    prompts = os.path.join(home, "prompts.txt")
    with open(prompts, "w", encoding="utf-8") as file:
        file.writelines(lines[number - 1] + "\n" for number in LINES)
    for name in (models.SMOLLM2, models.GEMMA3):
        status, result = models.call("agreement", "-m", models.path(name), "--prompts", prompts, "-n", str(TOKENS),
                                     "--no-end", "--drafters", DRAFTERS, "--shapes", SHAPES, "--home", home)
        for cell in result["cells"]:
            print(f"{name}: {cell['drafter']:10} {cell['shape']:7} {cell['differing_tokens']} tokens and "
                  f"{cell['differing_bits']} bits differ; compared {cell['accepted_rows']} accepted and "
                  f"{cell['rejected_rows']} rejected rows; drafted {cell['drafted']}, accepted {cell['accepted']}, "
                  f"rejected {cell['rejected']}; {cell['seconds']:.1f} s {cell['failures'] or ''}")
        expected = len(DRAFTERS.split(",")) * len(SHAPES.split(","))
        if status != 0 or not result["passed"] or len(result["cells"]) != expected:
            wrong.append(f"{name}: exit status {status}, {len(result['cells'])} cells")
sys.exit("\n".join(wrong) or 0)
