"""Perplexity of the GPL-3 text, windows of 512, within 0.5 % of what llama.cpp measures on the same files."""
import hashlib
import sys

import models

TEXT = "/usr/share/common-licenses/GPL-3"
PEER = {models.SMOLLM2: 18.3459, models.GEMMA3: 13.8844}

with open(TEXT, "rb") as text:
    if hashlib.md5(text.read()).hexdigest() != "1ebbd3e34237af26da5dc08a4e440464":
        sys.exit(f"{TEXT} is not the text that the peer was measured on")
wrong = []
for name, expected in PEER.items():
    status, result = models.call("ppl", "-m", models.path(name), "-f", TEXT, "--ctx", "512")
    ratio = result["perplexity"] / expected - 1
    print(f"{name}: {result['perplexity']:.4f}, the peer {expected:.4f}, {100 * ratio:+.2f} %, {result['windows']} windows")
    if status != 0 or abs(ratio) > 0.005 or result["windows"] != 14:
        wrong.append(name)
sys.exit("\n".join(wrong) or 0)
