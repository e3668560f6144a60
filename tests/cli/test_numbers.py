"""Numbers on the command line: one rule, what does not fit is refused by name."""

import unittest

import client

EDGES = ("-1", "0", "2147483647", "2147483648", "9223372036854775808", "18446744073709551616", "1e400", '"1"', "1.5",
         "", " 1", "+1", "0x10", "1 ")
# Option, its command, and which of the edges are whole numbers that it takes.
WHOLE = (
    ("--tokens", "run", {"0", "2147483647"}),
    ("-n", "chat", {"0", "2147483647"}),
    ("--threads", "run", {"0", "2147483647"}),
    ("--ctx", "run", {"0", "2147483647"}),
    ("--top-k", "run", {"0", "2147483647", "2147483648"}),
    ("--seed", "run", {"0", "2147483647", "2147483648", "9223372036854775808"}),
    ("--ctx", "ppl", {"2147483647"}),
    ("--windows", "ppl", {"0", "2147483647"}),
)
REAL_BAD = ("nan", "NaN", "inf", "-inf", "1e400", "-1e400", "", "1,5", '"1"', "0x1p3")
# Option, then values that are taken, then numbers out of range.
REAL = (
    ("--temp", ("0", "1e-30", "0.8", "1", "1000000"), ("-1", "-1e-30")),
    ("--top-p", ("1", "0.5", "1e-30"), ("0", "-0.5", "1.5")),
    ("--min-p", ("0", "0.5", "1"), ("-0.1", "2")),
)
WORDS = (
    ("--spec", ("off", "auto", "own-text", "wrong", "store,draft"), ("", "on", "OFF", "drafts", "own-text,")),
    (
        "--shape",
        ("auto", "chain1", "chain31", "tree4"),
        ("", "chain", "chain0", "chain32", "chain-1", "chain1x", "tree0", "tree32"),
    ),
    ("--kv", ("f16", "f32", "vq8", "q8"), ("", "F16", "q4")),
    ("--kernels", ("scalar",), ("", "avx1024")),
)


class Numbers(client.CliTest):
    """The model does not exist: an accepted value fails with that, and nothing has to be loaded."""

    def outcome(self, command, option, value):
        prompt = {"run": ("-p", "x"), "chat": (), "ppl": ("-f", "/dev/null")}[command]
        return self.bad(command, *prompt, option, value, "-m", "no-such-model")

    def assert_taken(self, command, option, value):
        self.assertIn("There is no model", self.outcome(command, option, value), (option, value))

    def assert_refused(self, command, option, value):
        line = self.outcome(command, option, value)
        self.assertNotIn("There is no model", line, (option, value))
        return line

    def test_whole_numbers(self):
        for option, command, taken in WHOLE:
            for value in EDGES:
                if value in taken:
                    self.assert_taken(command, option, value)
                else:
                    self.assertIn("whole number", self.assert_refused(command, option, value))

    def test_real_numbers(self):
        for option, taken, refused in REAL:
            for value in taken:
                self.assert_taken("run", option, value)
            for value in REAL_BAD:
                self.assertIn("finite number", self.assert_refused("run", option, value))
            for value in refused:
                self.assert_refused("run", option, value)

    def test_words(self):
        for option, taken, refused in WORDS:
            for value in taken:
                self.assert_taken("run", option, value)
            for value in refused:
                self.assert_refused("run", option, value)


if __name__ == "__main__":
    client.main()
