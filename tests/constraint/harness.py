"""What the tests of structured output share: the walker (walker.cpp), and what failed."""
import json
import subprocess


class Walker:
    def __init__(self, program, model):
        self.process = subprocess.Popen([program, model], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"the walker ended with {self.process.wait()} at {json.dumps(request)[:300]}")
        return json.loads(line)


failures = []


def expect(holds, *what):
    if not holds:
        failures.append(what)
        print("FAILED:", *[str(w)[:600] for w in what], flush=True)


def spellings(value):
    """The ways in which programs write a value."""
    texts = [json.dumps(value), json.dumps(value, ensure_ascii=False), json.dumps(value, separators=(",", ":")),
             json.dumps(value, indent=2, ensure_ascii=False), json.dumps(value, indent="\t")]
    return list(dict.fromkeys(texts))
