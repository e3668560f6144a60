"""tandem-cli run: a completion, its figures, and that neither drafts nor kernels change it."""

import os
import signal
import subprocess
import time
import unittest

import client

QUESTION = "What is the capital of Australia?"
# Text that repeats itself, so that drafts from the request's own text are accepted, and some are not.
LIST = "Write the numbers one to ten, then write the numbers one to ten again, in words."


class Run(client.CliTest):
    def test_answers(self):
        done = self.good("run", "-p", QUESTION)
        self.assertIn("Canberra", done.stdout.decode())
        self.assertTrue(done.stdout.endswith(b"\n"))
        figures = done.stderr.decode()
        self.assertRegex(figures, r"prompt \d+ tokens \([\d.]+/s\), completion \d+ tokens \([\d.]+/s\), finish stop")
        self.assertRegex(figures, r"rounds \d+, drafted \d+, accepted \d+, rejected \d+, [\d.]+ tokens a round")
        self.assertRegex(figures, r"logits fingerprint [0-9a-f]{16}\n")

    def test_the_figures_follow_the_text_in_one_pipe(self):
        command = [client.CLI, "run", "-p", QUESTION, "-n", "3", "-m", client.SMOLLM2, "--home", self.path("home")]
        both = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=client.TIMEOUT_S,
                              check=True).stdout
        self.assertIn(self.good("run", "-p", QUESTION, "-n", "3").stdout + b"prompt ", both)

    def test_json_has_everything(self):
        answer = self.good_json("run", "-p", QUESTION)
        stats = answer["stats"]
        self.assertIn("Canberra", answer["text"])
        self.assertEqual(stats["completion_tokens"], len(answer["ids"]))
        self.assertEqual(stats["prompt_tokens"], len(answer["prompt_ids"]))
        self.assertEqual(stats["rejected"], stats["drafted"] - stats["accepted"])
        self.assertEqual(sum(stats["accepted_by"].values()), len(answer["ids"]))
        self.assertEqual(stats["finish"], "stop")
        ids = self.good("run", "-p", QUESTION, "--ids").stdout.split()
        self.assertEqual([int(token) for token in ids], answer["ids"])

    def test_weights_are_kept_and_change_nothing(self):
        packed = self.good_json("run", "-p", QUESTION, "-n", "3", "--no-weight-cache")
        first, second = (self.good_json("run", "-p", QUESTION, "-n", "3") for _ in range(2))
        again = self.good_json("run", "-p", QUESTION, "-n", "3", "--no-weight-cache")
        runs = (packed, first, second, again)
        self.assertEqual([run["weights_were_kept"] for run in runs], [False, False, True, False])
        self.assertEqual(len(os.listdir(self.path("home/cache/weights"))), 1)
        for run in runs:
            self.assertGreater(run["load_ms"], 0)
            self.assertEqual(run["model_fingerprint"], packed["model_fingerprint"])
            self.assertEqual(run["stats"]["logits_fingerprint"], packed["stats"]["logits_fingerprint"])

    def test_file_is_the_prompt(self):
        by_option = self.good_json("run", "-p", QUESTION, "-n", "3")
        by_file = self.good_json("run", "-f", self.write("prompt", QUESTION), "-n", "3")
        by_pipe = self.good_json("run", "-f", "-", "-n", "3", stdin=QUESTION.encode())
        self.assertEqual(by_option["prompt_ids"], by_file["prompt_ids"])
        self.assertEqual(by_option["prompt_ids"], by_pipe["prompt_ids"])
        self.assertEqual(by_option["ids"], by_file["ids"])
        self.assertEqual(by_option["stats"]["finish"], "length")

    def test_raw_has_no_template(self):
        raw = self.good_json("run", "-p", "The lighthouse", "--raw", "-n", "2")
        self.assertEqual(raw["prompt_ids"], self.good_json("tokenize", "-p", "The lighthouse")["ids"])
        chat = self.good_json("run", "-p", "The lighthouse", "--system", "Be short.", "-n", "2")
        self.assertGreater(len(chat["prompt_ids"]), len(raw["prompt_ids"]))
        self.assertIn("--system", self.bad("run", "-p", "x", "--raw", "--system", "y", "-m", client.SMOLLM2))

    def test_drafts_change_nothing(self):
        runs = {spec: self.good_json("run", "-p", LIST, "-n", "64", "--spec", spec, "--shape", shape)
                for spec, shape in (("off", "auto"), ("auto", "auto"), ("own-text", "tree15"), ("wrong", "chain3"))}
        plain = runs["off"]
        self.assertEqual(plain["stats"]["drafted"], 0)
        self.assertEqual(runs["wrong"]["stats"]["accepted"], 0)
        self.assertGreater(runs["wrong"]["stats"]["rejected"], 0)
        self.assertGreater(runs["auto"]["stats"]["accepted"], 0)
        for spec, answer in runs.items():
            self.assertEqual(answer["ids"], plain["ids"], spec)
            self.assertEqual(answer["stats"]["logits_fingerprint"], plain["stats"]["logits_fingerprint"], spec)

    def test_earlier_texts_are_drafted_from(self):
        self.good("chat", "-n", "30", stdin=QUESTION.encode())
        plain = self.good_json("run", "-p", QUESTION, "-n", "30", "--spec", "off")
        stored = self.good_json("run", "-p", QUESTION, "-n", "30", "--spec", "store", "--shape", "tree15")
        self.assertEqual(stored["ids"], plain["ids"])
        self.assertGreater(stored["stats"]["accepted_by"]["store"], 3)

    def test_stop_strings_cut_the_text(self):
        whole = self.good_json("run", "-p", QUESTION, "-n", "30")["text"]
        stopped = self.good_json("run", "-p", QUESTION, "-n", "30", "--stop", "nowhere", "--stop", "berra")
        self.assertEqual(stopped["text"], whole[:whole.index("berra")])
        self.assertEqual(stopped["stats"]["finish"], "stop_string")

    def test_options_hold_on_every_drafted_row(self):
        plain = self.good_json("run", "-p", LIST, "-n", "40", "--spec", "off")
        for options in (("--repetition-penalty", "1.3"), ("--presence-penalty", "1", "--frequency-penalty", "0.5"),
                        ("--no-repeat-ngram-size", "3"), ("--logit-bias", str(plain["ids"][3]) + "=-100"),
                        ("--repetition-penalty", "2", "--penalty-window", "20", "--temp", "0.7", "--seed", "3")):
            changed = self.good_json("run", "-p", LIST, "-n", "40", "--spec", "off", *options)
            self.assertNotEqual(changed["ids"], plain["ids"], options)
            for spec in (("auto", "auto"), ("own-text", "tree15"), ("wrong", "chain3")):
                drafted = self.good_json("run", "-p", LIST, "-n", "40", "--spec", spec[0], "--shape", spec[1], *options)
                self.assertEqual(drafted["ids"], changed["ids"], options + spec)

    def test_ends(self):
        whole = self.good_json("run", "-p", QUESTION, "-n", "30")
        stop = whole["ids"][5]
        first = whole["ids"].index(stop)
        stopped = self.good_json("run", "-p", QUESTION, "-n", "30", "--stop-token", str(stop))
        self.assertEqual(stopped["ids"], whole["ids"][:first + 1])
        self.assertEqual(stopped["stats"]["finish"], "stop_token")
        held = self.good_json("run", "-p", QUESTION, "-n", "30", "--stop-token", str(stop), "--min-tokens", "20")
        self.assertNotIn(stop, held["ids"][:20])
        self.assertGreaterEqual(len(held["ids"]), 20)

    def test_logprobs(self):
        told = self.good_json("run", "-p", QUESTION, "-n", "6", "--logprobs", "3")
        self.assertEqual(len(told["logprobs"]), len(told["ids"]))
        for token, one in zip(told["ids"], told["logprobs"]):
            self.assertEqual(one["top"][0], {"id": token, "logprob": one["logprob"]})  # greedy: the likeliest
            self.assertEqual(len(one["top"]), 3)
        self.assertNotIn("logprobs", self.good_json("run", "-p", QUESTION, "-n", "2"))

    def test_bad_options_are_refused_by_name(self):
        for option, value, word in (
            ("--repetition-penalty", "0", "repetition_penalty"), ("--presence-penalty", "3", "presence_penalty"),
            ("--frequency-penalty", "-2.5", "frequency_penalty"), ("--penalty-window", "-1", "--penalty-window"),
            ("--no-repeat-ngram-size", "x", "--no-repeat-ngram-size"), ("--logit-bias", "5", "--logit-bias"),
            ("--logit-bias", "5=101", "logit_bias"), ("--logit-bias", "99999999=1", "logit_bias"),
            ("--min-tokens", "5", "min_tokens"), ("--stop-token", "99999999", "stop_token_ids"),
            ("--stop", "", "stop"), ("--logprobs", "21", "--logprobs"), ("--choice", "-1", "--choice"),
        ):
            line = self.bad("run", "-p", "x", "-n", "4", "-m", client.SMOLLM2, option, value)
            self.assertIn(word, line)

    def test_rounds_are_explained(self):
        told = self.good("run", "-p", LIST, "-n", "40", "--explain").stderr.decode()
        self.assertRegex(told, r"round 0 at \d+: \d+ of \d+ accepted, "
                               r"draft [\d.]+ \+ verify [\d.]+ \+ commit [\d.]+ ms: \w")

    def test_another_vocabulary_does_not_draft(self):
        done = self.good("run", "-p", QUESTION, "-n", "3", "--spec", "draft", "--draft-model", client.GEMMA3)
        told = done.stderr.decode()
        self.assertIn("its vocabulary is another one", told)
        self.assertIn("There is no draft model", told)

    def test_relaxed_accept_warns(self):
        told = self.good("run", "-p", QUESTION, "-n", "3", "--relax-tau", "0.5").stderr.decode()
        self.assertIn("Relaxed accept is on", told)

    def test_sampled_text_depends_on_its_seed_alone(self):
        sampled = ("run", "-p", LIST, "-n", "40", "--temp", "0.8", "--seed", "7")
        plain = self.good_json(*sampled, "--spec", "off")
        for others in (("--spec", "auto"), ("--spec", "wrong", "--shape", "chain3"), ("-t", "2")):
            answer = self.good_json(*sampled, *others)
            self.assertEqual(answer["ids"], plain["ids"], others)
            self.assertEqual(answer["stats"]["seed"], 7)
        fresh = self.good_json("run", "-p", LIST, "-n", "40", "--temp", "0.8")
        self.assertNotEqual(fresh["stats"]["seed"], 0)
        again = self.good_json("run", "-p", LIST, "-n", "40", "--temp", "0.8", "--seed", str(fresh["stats"]["seed"]))
        self.assertEqual(again["ids"], fresh["ids"])

    def test_kernel_sets_and_many_threads(self):
        best = self.good_json("run", "-p", "Hi", "-n", "2", "--raw", "-t", "1")
        scalar = self.good_json("run", "-p", "Hi", "-n", "2", "--raw", "--kernels", "scalar", "-t", "2")
        many = self.good_json("run", "-p", "Hi", "-n", "2", "--raw", "-t", "10000")
        self.assertEqual(scalar["kernels"], "scalar")
        for other in (scalar, many):
            self.assertEqual(other["ids"], best["ids"])
            self.assertEqual(other["stats"]["logits_fingerprint"], best["stats"]["logits_fingerprint"])
        self.assertLessEqual(many["threads"], 256)

    def test_context_is_never_shifted(self):
        full = self.good_json("run", "-p", "One two three", "--raw", "--ctx", "16")
        self.assertEqual(full["stats"]["finish"], "length")
        self.assertEqual(len(full["prompt_ids"]) + len(full["ids"]), 16)
        line = self.bad("run", "-p", "word " * 40, "--raw", "--ctx", "16", "-m", client.SMOLLM2)
        self.assertIn("context of 16", line)
        self.assertRegex(line, r"\d+ too many")

    def test_model_without_template_needs_raw(self):
        self.assertIn("--raw", self.bad("run", "-p", "Hello", "-m", client.GEMMA3))
        done = self.run_cli("run", "-p", "The capital of France is", "--raw", "-n", "3", "-m", client.GEMMA3)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, rb"^ \w+")
        self.assertIn(b"completion 3 tokens", done.stderr)

    def test_ctrl_c_ends_the_text(self):
        with subprocess.Popen([client.CLI, "run", "-p", "Count to ten thousand.", "-m", client.SMOLLM2,
                               "--home", self.path("home")], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            process.stdout.read(1)
            start = time.monotonic()
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=client.TIMEOUT_S)
            self.assertLess(time.monotonic() - start, 10)
            self.assertEqual(process.returncode, 1)
            self.assertIn(b"finish cancelled", errors)


class BadUse(client.CliTest):
    def test_commands(self):
        self.assertIn("not a command", self.bad("sing", home=False))
        self.assertEqual(self.run_cli(home=False).returncode, 2)
        for arguments in (("--help",), ("--version",)):
            self.assertEqual(self.run_cli(*arguments, home=False).returncode, 0)

    def test_every_command_has_help(self):
        for command in ("run", "chat", "tokenize", "detokenize", "logits", "inspect", "ppl", "verify"):
            done = self.run_cli(command, "--help")
            self.assertEqual(done.returncode, 0)
            for option in (b"--json", b"--home", b"--model", b"Usage: tandem-cli " + command.encode()):
                self.assertIn(option, done.stdout)
            self.assertIn("--nonsense", self.bad(command, "--nonsense"))

    def test_prompt(self):
        self.assertIn("-p TEXT", self.bad("run"))
        self.assertIn("-p TEXT", self.bad("run", "-p", "x", "-f", "y"))
        self.assertIn("too many", self.bad("run", "-p", "x", "y"))
        self.assertIn("needs a value", self.bad("run", "-p", home=False))
        self.assertIn("takes no value", self.bad("run", "--raw=1"))
        self.assertIn("could not be read", self.bad("run", "-f", self.path("missing")))
        self.assertIn("could not be read", self.bad("run", "-f", self.folder))

    def test_models(self):
        self.assertIn("There is no model", self.bad("run", "-p", "x", "-m", "nothing"))
        self.assertIn("No model was given", self.bad("run", "-p", "x"))
        self.bad("run", "-p", "x", "-m", self.folder)
        self.bad("run", "-p", "x", "-m", self.write("empty.gguf", b""))
        self.bad("run", "-p", "x", "-m", self.write("page.gguf", b"<!DOCTYPE html><html></html>"))

    def test_errors_are_json_too(self):
        done = self.run_cli("run", "-p", "x", "-m", "nothing", "--json")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(client.json.loads(done.stdout)["error"]["code"], "not_found")

    def test_a_full_disk_is_no_success(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([client.CLI, "--help"], stdout=full, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"could not be written", done.stderr)


if __name__ == "__main__":
    client.main()
