"""The gate through the command line: table, JSON, exit status, going on where it stopped, and what is stored."""

import json
import os
import sqlite3
import unittest

import client

PROMPTS = "One, two, three. One, two, three. One, two,\nif (a) {\\n  b();\\n}\\nif (a) {\\n\n"
SETS = ["penalties", "no-repeat", "bias", "combined", "json-schema", "regex", "tool-call"]


class Agreement(client.CliTest):
    def gate(self, *arguments, status=0, prompts=PROMPTS):
        done = self.run_cli("agreement", "-m", client.SMOLLM2, "--prompts", self.write("prompts.txt", prompts), "-n", "12",
                            "--no-end", *arguments)
        self.assertEqual(done.returncode, status, done.stderr.decode(errors="replace"))
        return done

    def gate_json(self, *arguments, **more):
        return json.loads(self.gate("--json", *arguments, **more).stdout)

    def test_table_and_json_say_the_same(self):
        report = self.gate_json("--drafters", "own-text,wrong", "--shapes", "chain7,tree15")
        self.assertTrue(report["passed"])
        self.assertEqual([(c["drafter"], c["shape"]) for c in report["cells"]],
                         [(d, s) for d in ("own-text", "wrong") for s in ("chain7", "tree15")])
        for cell in report["cells"]:
            self.assertEqual((cell["prompts"], cell["tokens"], cell["accepted_rows"]), (2, 24, 24))
            self.assertEqual((cell["differing_tokens"], cell["differing_bits"], cell["failures"]), (0, 0, []))
            self.assertGreater(cell["rejected_rows"], 0)
            self.assertEqual(cell["drafted"], cell["accepted"] + cell["rejected"])
        table = self.gate("--drafters", "own-text,wrong", "--shapes", "chain7,tree15").stdout.decode()
        self.assertEqual(table.count("identical\n"), 4)
        self.assertIn("every cell writes the plain text", table)

    def test_a_drafter_that_does_nothing_fails(self):
        report = self.gate_json("--drafters", "own-text", "--shapes", "chain7", prompts="Zebra\n", status=1)
        self.assertFalse(report["passed"])
        self.assertIn("accepted nothing", report["cells"][0]["failures"])

    def test_a_run_goes_on_where_it_stopped(self):
        out = self.path("results.jsonl")
        first = self.gate_json("--drafters", "wrong", "--shapes", "chain7", "--out", out)
        self.assertEqual(first["resumed"], 0)
        lines = self.read("results.jsonl").splitlines(keepends=True)
        self.assertEqual(len(lines), 2)
        self.write("results.jsonl", lines[0] + lines[1][:40])  # torn, as a kill leaves it
        second = self.gate_json("--drafters", "wrong", "--shapes", "chain7,chain15", "--out", out)
        self.assertEqual(second["resumed"], 1)
        third = self.gate_json("--drafters", "wrong", "--shapes", "chain7", "--out", out)
        self.assertEqual(third["resumed"], 2)
        without_time = [{**cell, "seconds": 0} for cell in (first["cells"][0], third["cells"][0])]
        self.assertEqual(without_time[0], without_time[1])
        other = self.gate("--drafters", "wrong", "--shapes", "chain7", "--out", out, "--seed", "2")
        self.assertIn(b"4 results of another program, model or setting are left aside", other.stderr)

    def test_options_are_a_dimension(self):
        report = self.gate_json("--drafters", "half-right", "--shapes", "tree15", "--options", "all", "-n", "26")
        self.assertTrue(report["passed"], report["cells"])
        self.assertEqual([c["options"] for c in report["cells"]],
                         ["plain", *SETS, "sampled", *(name + "+sampled" for name in SETS)])
        self.assertEqual(sum(c["differing_tokens"] + c["differing_bits"] for c in report["cells"]), 0)

    def test_every_two_values_meet(self):
        report = self.gate_json("--drafters", "half-right,random", "--shapes", "chain7,tree15", "--options", "all", "--parallel",
                                "1,2,4", "--pairwise", "-n", "26", prompts="One, two, three. One, two, three. One, two,\n")
        self.assertTrue(report["passed"], report["cells"])
        met = set()
        for cell in report["cells"]:
            base, _, sampled = cell["options"].partition("+")
            if base == "sampled":
                base, sampled = "plain", "sampled"
            values = (cell["drafter"], cell["shape"], base, sampled, cell["parallel"])
            met.update((i, values[i], j, values[j]) for i in range(5) for j in range(i))
            self.assertEqual((cell["differing_tokens"], cell["differing_bits"]), (0, 0))
        sizes = (2, 2, 1 + len(SETS), 2, 3)
        self.assertEqual(len(met), sum(sizes[i] * sizes[j] for i in range(5) for j in range(i)))
        self.assertLess(len(report["cells"]), 40)  # of 192

    def test_runs_are_stored(self):
        self.gate("--drafters", "wrong", "--shapes", "chain2")
        with sqlite3.connect(os.path.join(self.path("home"), "data", "tandem.db")) as db:
            rows = db.execute("SELECT client, prompts, tokens, passed, cache_type, report FROM agreement_runs").fetchall()
        self.assertEqual([row[:5] for row in rows], [("cli", 2, 12, 1, "f16")])
        self.assertEqual(json.loads(rows[0][5])[0]["shape"], "chain2")

    def test_prompts_as_token_ids(self):
        ids = self.write("ids.txt", "5 6 7 5 6\n\n[9, 8, 9, 8, 9]\n")
        done = self.run_cli("agreement", "-m", client.SMOLLM2, "--ids", ids, "-n", "6", "--no-end", "--drafters", "wrong",
                            "--shapes", "tree3", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["prompts"], 2)

    def test_bad_use_is_refused(self):
        prompts = self.write("prompts.txt", "x\n")
        model = ("-m", client.SMOLLM2)
        for arguments, word in (
            ((), "--prompts"),
            (("--prompts", prompts, "--ids", prompts), "--ids"),
            (("--prompts", self.path("none")), "none"),
            (("--prompts", self.write("empty.txt", "\n\n")), "no prompt"),
            (("--prompts", self.write("escape.txt", "good\na\\tb\n")), "Line 2"),
            (("--ids", self.write("ids.txt", "1 2\n1 x\n")), "Line 2"),
            (("--ids", self.write("far.txt", "1 99999999\n")), "Line 1"),
            (("--prompts", prompts, "--drafters", "nobody"), "nobody"),
            (("--prompts", prompts, "--shapes", "chain32"), "chain31"),
            (("--prompts", prompts, "--options", "penalties,many"), "many"),
            (("--prompts", prompts, "--parallel", "1,33"), "33"),
            (("--prompts", prompts, "--options", "regex", "-n", "3"), "at least"),
            (("--prompts", prompts, "-n", "0"), "whole number"),
            (("--prompts", prompts, "-n", "100000"), "too long"),
            (("--prompts", prompts, "--out", self.path("no/such/folder")), "cannot be used"),
        ):
            self.assertIn(word, self.bad("agreement", *arguments, *model), arguments)


if __name__ == "__main__":
    client.main()
