"""The bench of fixed workloads: every figure is there, and they fit together."""

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


if __name__ == "__main__":
    client.main()
