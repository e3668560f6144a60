"""The bench: every figure is there, and they fit together."""

import json
import unittest

import client

WORKLOADS = ("prose", "chat", "code", "edit", "quote", "base64")


class Bench(client.CliTest):
    def test_a_workload_is_measured_and_simulated(self):
        report = self.good_json("bench", "--workload", "quote", "-n", "24", "--runs", "2", "--spec", "own-text", "--shape",
                                "chain7")
        self.assertEqual(report["spec"], "own-text")
        self.assertEqual(report["shape"], "chain7")
        quote, = report["workloads"]
        self.assertEqual((quote["workload"], quote["prompts"], quote["runs"]), ("quote", 3, 2))
        self.assertTrue(quote["same_text"])
        self.assertEqual(quote["left_out"], 0)
        for name in ("plain_tokens_per_second", "speculated_tokens_per_second", "gain", "prefill_tokens_per_second"):
            spread = quote[name]
            self.assertTrue(0 < spread["least"] <= spread["median"] <= spread["most"], name)
        # Two runs of each prompt went through these rounds.
        self.assertEqual(sum(rows["rounds"] for rows in quote["round_ms_by_rows"]), 2 * quote["rounds"])
        self.assertTrue(all(1 <= rows["rows"] <= 8 for rows in quote["round_ms_by_rows"]))
        self.assertEqual(quote["tokens"], quote["rounds"] + quote["accepted"] + 3)  # the first tokens are the prefill's
        self.assertEqual(len(quote["verify_ms_by_rows"]), 32)
        self.assertGreater(quote["simulated"]["gain"], 0.99)
        self.assertAlmostEqual(quote["simulated"]["measured_share"], quote["gain"]["median"] / quote["simulated"]["gain"])

    def test_drawn_base64_is_the_same_text_with_and_without_drafts(self):
        base64, = self.good_json("bench", "--workload", "base64", "-n", "16", "--runs", "1", "--spec",
                                 "own-text")["workloads"]
        self.assertTrue(base64["same_text"])
        self.assertEqual(base64["left_out"], 0)

    def test_text_and_workload_names(self):
        text = self.good("bench", "--workload", "code", "-n", "8", "--runs", "1").stdout.decode()
        self.assertIn("code: 3 prompts", text)
        self.assertIn("measured / simulated", text)
        line = self.bad("bench", "--workload", "poem")
        for name in WORKLOADS:
            self.assertIn(name, line)
        self.assertIn("whole number", self.bad("bench", "-n", "1"))


class Speed(client.CliTest):
    SHORT = ("bench", "-t", "1", "--runs", "2", "-n", "4", "--prompt-tokens", "40,70", "--contexts", "1,20")

    def check_lines(self, lines, size, sizes, shares):
        self.assertEqual([line[size] for line in lines], sizes)
        for line in lines:
            for name in ("ms", "tokens_per_second"):
                self.assertTrue(0 < line[name]["least"] <= line[name]["median"] <= line[name]["most"], name)
            seconds = line["ms"]["median"] / 1000
            self.assertAlmostEqual(line["tokens_per_second"]["median"], line["tokens"] / seconds)
            self.assertAlmostEqual(line["gigabytes_per_second"], line["bytes"] / 1e9 / seconds)
            self.assertAlmostEqual(line["gmacs_per_second"], line["multiply_adds"] / 1e9 / seconds)
            self.assertEqual("read_share" in line, shares)
            if shares:
                self.assertTrue(0 < line["read_share"] and 0 < line["compute_share"], line)

    def test_all_sections_beside_the_peaks(self):
        done = self.run_cli(*self.SHORT, "-m", client.SMOLLM2, "--json")
        report = json.loads(done.stdout)
        # A peak that was measured in a busy moment may be exceeded; then, and only then, the status is 1.
        lines = [line for section in ("prefill", "decode", "staircase", "products", "throughput") for line in report[section]]
        exceeded = any(max(line["read_share"], line["compute_share"]) > 1 for line in lines)
        self.assertEqual(done.returncode, 1 if exceeded else 0, done.stderr)
        self.assertEqual(b"more than the machine can do" in done.stderr, exceeded)
        self.assertEqual((report["threads"], report["runs"]), (1, 2))
        peaks = report["peaks"]
        for name, unit in (("memory", "gigabytes_per_second"), ("model", "gigabytes_per_second"), ("int8", "gmacs_per_second"),
                           ("fp32", "gmacs_per_second")):
            self.assertGreater(peaks[name][unit], 0)
            self.assertGreaterEqual(peaks[name]["threads"], 1)
        faster = max(("memory", "model"), key=lambda name: peaks[name]["gigabytes_per_second"])
        self.assertEqual(peaks["read_binds"], faster)
        self.check_lines(report["prefill"], "prompt_tokens", [40, 70], True)
        self.check_lines(report["decode"], "context", [1, 20], True)
        self.check_lines(report["staircase"], "rows", [1, 2, 3, 4, 6, 8, 12, 16, 24, 32], True)
        self.check_lines(report["products"], "rows", [1, 4, 8, 512], True)
        self.check_lines(report["throughput"], "parallel", [1, 4], True)
        for line in report["prefill"]:
            self.assertGreaterEqual(line["first_token_ms"]["median"], line["ms"]["median"])
        # SmolLM2 135M: 30 layers of 576, 9 heads and 3 KV heads of 64, 1,536 wide; 49,152 tokens.
        layers, head = 30 * 576 * (2 * 576 + 2 * 192 + 3 * 1536), 576 * 49152
        self.assertEqual((report["layer_multiply_adds"], report["head_multiply_adds"]), (layers, head))
        self.assertEqual(report["prefill"][0]["multiply_adds"], 40 * layers + head)
        self.assertEqual(report["decode"][0]["multiply_adds"], 4 * (layers + head))
        self.assertEqual(report["staircase"][3]["multiply_adds"], 4 * (layers + head))
        self.assertEqual(report["products"][1]["multiply_adds"], 4 * layers)
        # Four prompts of 32 tokens, and of each answer the first token comes from its prompt.
        self.assertEqual(report["throughput"][1]["multiply_adds"], 4 * (32 * layers + head) + 3 * 4 * (layers + head))
        # Behind one token the passes look back at 1, 2, 3 and 4 positions of 30 layers, 6 rows of 64 halves each.
        self.assertEqual(report["decode"][0]["bytes"],
                         4 * (report["layer_bytes"] + report["head_bytes"]) + (1 + 2 + 3 + 4) * 30 * 6 * 64 * 2)
        for line in report["products"]:
            self.assertAlmostEqual(line["share_of_most_rows"],
                                   line["gmacs_per_second"] / report["products"][-1]["gmacs_per_second"])

    def test_chosen_sections_alone(self):
        report = self.good_json(*self.SHORT, "--only", "prefill")
        self.check_lines(report["prefill"], "prompt_tokens", [40, 70], False)
        self.assertFalse({"peaks", "decode", "staircase", "products", "throughput"} & set(report))
        text = self.good(*self.SHORT, "--only", "decode").stdout.decode()
        self.assertIn("decode\n", text)
        self.assertNotIn("prefill", text)
        text = self.good(*self.SHORT, "--only", "throughput", "--parallel", "3").stdout.decode()
        self.assertIn("3 at once: ", text)

    def test_lists_that_are_none(self):
        for option in ("--prompt-tokens", "--contexts"):
            for wrong in ("", "12,", "0", "1,x", "-4", "9999999"):
                self.assertIn("whole number", self.bad("bench", option + "=" + wrong))
        for wrong in ("", "prefill,", "speed"):
            self.assertIn("peaks, prefill, decode, staircase, throughput", self.bad("bench", "--only", wrong))
        # SmolLM2 holds 8,192 tokens.
        self.assertIn("no room", self.bad("bench", "-m", client.SMOLLM2, "--only", "prefill", "--prompt-tokens", "8193"))
        self.assertIn("no room", self.bad("bench", "-m", client.SMOLLM2, "--only", "decode", "--contexts", "8190"))

    def test_options_of_the_other_kind_are_refused(self):
        self.assertIn("--spec needs --workload", self.bad("bench", "--spec", "off"))
        self.assertIn("--parallel does not go with", self.bad("bench", "--workload", "all", "--parallel", "2"))
        self.assertIn("--only does not go with", self.bad("bench", "--workload", "all", "--only", "peaks"))


if __name__ == "__main__":
    client.main()
