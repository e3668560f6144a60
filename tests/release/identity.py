"""Release identity through the command line: thirteen fixed requests against the answers of the last release.

identity.py                  compares text, end and logits fingerprint of each, and checks the history of recordings
identity.py --record REASON  records the answers anew and adds the reason to docs/release-identity.md

TANDEM_CLI names the program, TANDEM_WRITE_TEXT_MODELS the writer of tiny models, TANDEM_TINY_RECIPE its recipe, TANDEM_MODELS
the folder of the reference models."""
import datetime
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
GOLDEN = HERE / "golden.json"
HISTORY = HERE.parent.parent / "docs" / "release-identity.md"
VERSION = re.compile(r"kArithmeticVersion = (\d+);")
ROW = re.compile(r"^\| (\d{4}-\d\d-\d\d) \| (\d+) \| `([0-9a-f]{16})` \| (.+) \|$", re.M)
MODELS = {"smollm2": "SmolLM2-135M-Instruct.Q4_1.gguf", "gemma3": "gemma-3-270m-Q4_K_M.gguf"}


def arithmetic():
    return int(VERSION.search((HERE.parent.parent / "engine" / "kernels" / "arithmetic.h").read_text())[1])


def fingerprint(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def options(request, folder):
    yield from ("-p", request["prompt"], "-n", str(request["tokens"]), "--spec", "auto")
    if request.get("raw"):
        yield "--raw"
    for name, value in request.get("sampling", {}).items():
        yield from ("--" + name.replace("_", "-"), str(value))
    if "reasoning_budget" in request:
        yield from ("--reasoning-budget", str(request["reasoning_budget"]))
    if "tools" in request:
        tools = folder / "tools.json"
        tools.write_text(json.dumps(request["tools"]))
        yield from ("--tools", str(tools))


def answer(request, folder):
    """What the program writes: as it is streamed, or as a whole."""
    model = MODELS.get(request["model"])
    path = Path(os.environ["TANDEM_MODELS"]) / model if model else folder / (request["model"] + ".gguf")
    command = [os.environ["TANDEM_CLI"], "run", "-m", str(path), "--home", str(folder / "home"), *options(request, folder)]
    if not request.get("streamed"):
        command.append("--json")
    done = subprocess.run(command, capture_output=True, timeout=240, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{request['name']}: {done.stderr.decode(errors='replace')}")
    if not request.get("streamed"):
        whole = json.loads(done.stdout)
        return {"text": whole["text"], "finish": whole["stats"]["finish"], "fingerprint": whole["stats"]["logits_fingerprint"]}
    told = done.stderr.decode()
    return {"text": done.stdout.decode().removesuffix("\n"), "finish": re.search(r"finish (\w+)", told)[1],
            "fingerprint": re.search(r"logits fingerprint (\w+)", told)[1]}


def answers():
    requests = json.loads((HERE / "requests.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([os.environ["TANDEM_WRITE_TEXT_MODELS"], os.environ["TANDEM_TINY_RECIPE"], name], check=True)
        return {request["name"]: answer(request, folder) for request in requests}


def history_faults(golden_fingerprint, golden_version, rows):
    """Recording anew needs a higher version of the arithmetic, and a reason in the history."""
    if not rows:
        yield "nothing was ever recorded"
        return
    versions = [int(row[1]) for row in rows]
    if any(b <= a for a, b in zip(versions, versions[1:])):
        yield f"answers were recorded anew without raising kArithmeticVersion: {versions}"
    if rows[-1][2] != golden_fingerprint:
        yield f"golden.json is {golden_fingerprint}, the last recording was {rows[-1][2]}"
    if versions[-1] != golden_version:
        yield f"golden.json is of arithmetic version {golden_version}, the last recording of {versions[-1]}"


def check():
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    faults = list(history_faults(fingerprint(GOLDEN), golden["arithmetic"], ROW.findall(HISTORY.read_text(encoding="utf-8"))))
    if golden["arithmetic"] != arithmetic():
        faults.append(f"golden.json is of arithmetic version {golden['arithmetic']}, the engine has {arithmetic()}: record anew")
    found = answers()
    if found.keys() != golden["answers"].keys():
        faults.append("golden.json has answers to other requests")
    for name, expected in golden["answers"].items():
        same = found.get(name) == expected
        print(f"{name}: {'the same' if same else 'ANOTHER ANSWER'}")
        if not same:
            faults.append(f"{name}: expected {expected}, found {found.get(name)}")
    # What must be told apart is.
    first, again = ("2026-01-01", "1", "a" * 16, "first"), ("2026-01-02", "1", "b" * 16, "again")
    assert list(history_faults("b" * 16, 1, [first, again])) and list(history_faults("c" * 16, 1, [first]))
    assert not list(history_faults("b" * 16, 2, [first, ("2026-01-02", "2", "b" * 16, "why")]))
    for fault in faults:
        print("FAILED:", fault)
    return 1 if faults else 0


def record(reason):
    rows = ROW.findall(HISTORY.read_text(encoding="utf-8"))
    if rows and int(rows[-1][1]) >= arithmetic():
        raise SystemExit("Raise kArithmeticVersion first (engine/kernels/arithmetic.h): answers of one version never change.")
    golden = {"arithmetic": arithmetic(), "answers": answers()}
    GOLDEN.write_text(json.dumps(golden, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    with HISTORY.open("a", encoding="utf-8") as file:
        file.write(f"| {datetime.date.today()} | {arithmetic()} | `{fingerprint(GOLDEN)}` | {reason} |\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--record"] and len(sys.argv) == 3 and sys.argv[2].strip():
        record(sys.argv[2].strip())
    elif len(sys.argv) == 1:
        sys.exit(check())
    else:
        sys.exit(__doc__)
