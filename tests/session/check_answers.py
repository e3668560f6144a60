"""Answers against an independent validator: check_answers.py ANSWERS, a file of JSON lines that session_constraint wrote:
{"schema": text, "text": answer}. All must be valid."""
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "constraint"))
from validator import faults, validator_of  # noqa: E402

validators, bad, answers = {}, 0, 0
for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines():
    entry = json.loads(line)
    if entry["schema"] not in validators:
        validators[entry["schema"]] = validator_of(json.loads(entry["schema"]))
    answers += 1
    if errors := faults(validators[entry["schema"]], entry["text"]):
        bad += 1
        print("INVALID:", entry["schema"][:300], entry["text"][:300], errors[:3])
print(f"{answers} answers to {len(validators)} schemas, {bad} invalid")
sys.exit(1 if bad or answers < 1500 else 0)
