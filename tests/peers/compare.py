#!/usr/bin/env python3
"""Speed beside llama.cpp's, the two in turn: compare.py TANDEM_CLI LLAMA_BENCH MODEL [ROUNDS]

Each round runs ours and then the peer's, plain decoding, 512 prompt tokens and 64 more, at one and at two threads; the
table gives medians of the better thread count on each side and their ratio. Trust only ratios of one run.
"""
import json
import statistics
import subprocess
import sys
import tempfile

WORDS = "the river rose and the keeper wrote one line a day in his book of wind and sea and ships "


def ours(cli, model, threads, prompt):
    done = subprocess.run([cli, "run", "-m", model, "-t", str(threads), "--raw", "-f", prompt, "-n", "64", "--spec",
                           "off", "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    result = json.loads(done.stdout)["stats"]
    return result["prefill_tokens_per_second"], result["decode_tokens_per_second"]


def theirs(bench, model, threads):
    done = subprocess.run([bench, "-m", model, "-t", str(threads), "-p", "512", "-n", "64", "-r", "1", "-o", "json"],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    rates = {(row["n_prompt"], row["n_gen"]): row["avg_ts"] for row in json.loads(done.stdout)}
    return rates[(512, 0)], rates[(0, 64)]


def main():
    cli, bench, model = sys.argv[1:4]
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 3
    sides = {"Tandem": {}, "llama.cpp": {}}
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as prompt:
        prompt.write(WORDS * 27)
        prompt.flush()
        for _ in range(rounds):
            for threads in (1, 2):
                sides["Tandem"].setdefault(threads, []).append(ours(cli, model, threads, prompt.name))
                sides["llama.cpp"].setdefault(threads, []).append(theirs(bench, model, threads))
    for index, what in enumerate(("prefill 512", "decode 64")):
        best = {side: max(statistics.median(run[index] for run in runs) for runs in by_threads.values())
                for side, by_threads in sides.items()}
        print(f"{what}: Tandem {best['Tandem']:.1f} tokens/s, llama.cpp {best['llama.cpp']:.1f}, "
              f"ratio {best['Tandem'] / best['llama.cpp']:.2f}")


main()
