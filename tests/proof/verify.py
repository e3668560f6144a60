"""tandem-cli verify prints 0 differing bits in every row, on both reference models."""
import sys

import models

EXPECTED = {"prefill = decode", "prefill in chunks", "row = itself", "fork is exact", "unused slots", "thread counts",
            "snapshot resumes",
            "kernel sets", "tokenizer round trip", "quantised cache bound", "the bound has teeth", "speculation own-text",
            "speculation wrong"}
wrong = []
for name in (models.SMOLLM2, models.GEMMA3):
    status, result = models.call("verify", "-m", models.path(name))
    for check in result["checks"]:
        print(f"{name}: {check['check']:22} {check['largest_difference']:.2e} {check['differing_bits']} bits "
              f"of {check['values']} values, {check['seconds']:.1f} s: {check['detail']}, {check.get('variation', 0):.4f}")
        if not check["passed"] or check["differing_bits"] or check["largest_difference"]:
            wrong.append(f"{name}: {check['check']}")
    missing = EXPECTED - {check["check"] for check in result["checks"]}
    if status != 0 or missing:
        wrong.append(f"{name}: exit status {status}, missing {sorted(missing)}")
sys.exit("\n".join(wrong) or 0)
