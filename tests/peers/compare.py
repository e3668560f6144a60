#!/usr/bin/env python3
"""Speed beside llama.cpp's, the two in turn: compare.py TANDEM_CLI PEER_BIN_DIR MODEL [ROUNDS] [options]

Each round measures every line on our side and then on the peer's, A B A B, with each thread count. The table has medians of
the better thread count on each side (least to most) and their ratio, above 1 where ours is faster. The peer's flash attention
is tried off and on, and the better setting is taken for each line. Trust only ratios of one run.

Every measurement is one short command. --prefix puts words before each of them ("nice -n -5"), --lines and --threads choose
what is measured, and --keep FILE adds the results to those in a file, so that a run can be split up; ROUNDS 0 only prints.
"""
import argparse
import json
import os
import shlex
import statistics
import subprocess

# name: (what it is, options of ours, options of llama-bench)
LINES = {
    "decode": ("decode 64, short prompt", ["--only", "decode", "--contexts", "16", "-n", "64"], ["-p", "0", "-n", "64"]),
    "decode4000": ("decode 64 after 4,000 tokens", ["--only", "decode", "--contexts", "4000", "-n", "64"],
                   ["-p", "0", "-n", "64", "-d", "4000"]),
    "prefill512": ("prefill 512", ["--only", "prefill", "--prompt-tokens", "512"], ["-p", "512", "-n", "0"]),
    "prefill4096": ("prefill 4096", ["--only", "prefill", "--prompt-tokens", "4096"], ["-p", "4096", "-n", "0"]),
    "first1000": ("first token of 1,000", ["--only", "prefill", "--prompt-tokens", "1000"], ["-p", "1000", "-n", "0"]),
}
PEER_SETTINGS = ("-fa 0", "-fa 1")


def output(prefix, command):
    return json.loads(subprocess.run(prefix + command, stdout=subprocess.PIPE, check=True).stdout)


def ours(options, line, threads):
    """Tokens per second; for the first token its milliseconds."""
    result = output(options.prefix, [os.path.abspath(options.tandem_cli), "bench", "--json", "--runs", "1", "-m", options.model,
                                     "-t", str(threads)] + LINES[line][1])
    measured, = result.get("decode") or result["prefill"]
    if line == "first1000":
        return measured["first_token_ms"]["median"]
    return measured["tokens_per_second"]["median"]


def theirs(options, line, threads, setting):
    bench = os.path.join(os.path.abspath(options.peer_bin_dir), "llama-bench")
    row, = output(options.prefix, [bench, "-m", options.model, "-t", str(threads), "-r", "1", "-o", "json"] +
                  setting.split() + LINES[line][2])
    return 1000 * 1000 / row["avg_ts"] if line == "first1000" else row["avg_ts"]


def measure(options, results):
    for _ in range(options.rounds):
        for line in options.lines:
            for threads in options.threads:
                add(results, line, "Tandem", threads, "", ours(options, line, threads))
                for setting in PEER_SETTINGS:
                    add(results, line, "llama.cpp", threads, setting, theirs(options, line, threads, setting))
                if options.keep:
                    with open(options.keep, "w", encoding="utf-8") as file:
                        json.dump(results, file, indent=1)


def add(results, line, side, threads, setting, value):
    name = f"{threads} thread" + ("" if threads == 1 else "s") + (f", {setting}" if setting else "")
    results.setdefault(line, {}).setdefault(side, {}).setdefault(name, []).append(value)


def best(line, by_setting):
    """The name of the setting with the better median, and its values."""
    pick = min if line == "first1000" else max
    return pick(by_setting.items(), key=lambda item: statistics.median(item[1]))


def cell(line, name, values):
    digits = ".0f" if line == "first1000" else ".1f"
    low, middle, high = (format(f(values), digits) for f in (min, statistics.median, max))
    return f"{middle} ({low} to {high}); {name}"


def table(results):
    rows = ["| line | Tandem | llama.cpp | ratio | rounds |", "| --- | --- | --- | --- | --- |"]
    for line, sides in results.items():
        our_name, our_values = best(line, sides["Tandem"])
        their_name, their_values = best(line, sides["llama.cpp"])
        ratio = statistics.median(our_values) / statistics.median(their_values)
        if line == "first1000":
            ratio = 1 / ratio
        unit = "ms" if line == "first1000" else "tokens/s"
        rows.append(f"| {LINES[line][0]}, {unit} | {cell(line, our_name, our_values)} | {cell(line, their_name, their_values)} | "
                    f"{ratio:.2f} | {len(our_values)} |")
    return "\n".join(rows)


def parse():
    names = lambda text: [name for name in text.split(",") if name in LINES or parser.error(f"no line {name}")]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tandem_cli")
    parser.add_argument("peer_bin_dir")
    parser.add_argument("model")
    parser.add_argument("rounds", nargs="?", type=int, default=3)
    parser.add_argument("--lines", type=names, default=list(LINES), help="of " + ",".join(LINES))
    parser.add_argument("--threads", type=lambda text: [int(n) for n in text.split(",")], default=[1, 2])
    parser.add_argument("--prefix", type=shlex.split, default=[])
    parser.add_argument("--keep", metavar="FILE")
    return parser.parse_args()


def main():
    options = parse()
    results = {}
    if options.keep and os.path.exists(options.keep):
        with open(options.keep, encoding="utf-8") as file:
            results = json.load(file)
    measure(options, results)
    print(table(results))
    print("\nThe first token's time is that of the prompt alone on the peer's side (1,000 tokens by its rate) and that of the "
          "prompt and\nthe greedy choice on ours; no decode step is counted on either.")


main()
