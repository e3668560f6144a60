"""Sampled answers against the target alone: passes as it should, with either sampler, and fails where the promise is broken."""

import json
import unittest

import client

PROMPTS = "One, two, three. One, two, three. One, two,\nThe best fruit is\n"


class SampledDist(client.CliTest):
    def judge(self, *arguments, status=0):
        done = self.run_cli("sampled-dist", "-m", client.SMOLLM2, "--prompts", self.write("prompts.txt", PROMPTS), "-n", "4",
                            "--draws", "40", "--seed", "1", "--json", *arguments)
        self.assertEqual(done.returncode, status, done.stderr.decode(errors="replace"))
        return json.loads(done.stdout)

    def test_served_answers_follow_the_target(self):
        report = self.judge("--spec", "own-text", "--shape", "tree15", "--top-p", "0.95", "--presence-penalty", "0.5")
        self.assertTrue(report["passed"])
        self.assertGreater(report["accepted"], 0)
        self.assertEqual(report["impossible"], 0)
        self.assertLessEqual(report["tokens"], 2 * 40 * 4)

    def test_the_rejection_sampler_does_too(self):
        report = self.judge("--sampler", "rejection", "--spec", "own-text", "--shape", "chain7")
        self.assertEqual((report["passed"], report["sampler"]), (True, "rejection"))

    def test_a_relaxed_accept_is_caught(self):
        report = self.judge("--spec", "own-text", "--shape", "chain7", "--relax-tau", "20", status=1)
        self.assertFalse(report["passed"])

    def test_bad_use_is_refused(self):
        prompts = self.write("prompts.txt", "x\n")
        for arguments, word in (
            ((), "--prompts"),
            (("--prompts", prompts, "--temp", "0"), "--temp"),
            (("--prompts", prompts, "--draws", "2"), "--draws"),
            (("--prompts", prompts, "--sampler", "best"), "gumbel or rejection"),
            (("--prompts", prompts, "--sampler", "rejection", "--shape", "tree7"), "chains"),
        ):
            self.assertIn(word, self.bad("sampled-dist", *arguments, "-m", client.SMOLLM2), arguments)


if __name__ == "__main__":
    client.main()
