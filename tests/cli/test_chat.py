"""tandem-cli chat: at a terminal (a pty), from a pipe, and on the store that others read."""

import json
import os
import pty
import select
import time
import unittest

import client


class Terminal:
    """tandem-cli chat at a pty of its own."""

    def __init__(self, home, *arguments):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execv(client.CLI, [client.CLI, "chat", "--home", home, "-m", client.SMOLLM2, *arguments])
        self.seen = ""

    def type(self, text):
        os.write(self.fd, text.encode())

    def read_until(self, wanted):
        """What came up to and with `wanted`; the rest stays for the next call."""
        deadline = time.monotonic() + client.TIMEOUT_S
        while wanted not in self.seen:
            if time.monotonic() > deadline:
                raise AssertionError("no %r in %r" % (wanted, self.seen))
            if select.select([self.fd], [], [], 1)[0]:
                self.seen += os.read(self.fd, 65536).decode(errors="replace").replace("\r\n", "\n")
        end = self.seen.index(wanted) + len(wanted)
        part, self.seen = self.seen[:end], self.seen[end:]
        return part

    def ask(self, line):
        """Types a line and returns the answer, up to its figures and the next prompt."""
        self.type(line + "\n")
        answer = self.read_until("]\n> ")
        return answer

    def close(self):
        """Ctrl-D; returns the exit status."""
        self.type("\x04")
        while True:
            try:
                if not os.read(self.fd, 65536):
                    break
            except OSError:
                break
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


class AtATerminal(client.CliTest):
    def test_a_conversation(self):
        chat = Terminal(self.path("home"))
        chat.read_until("> ")
        self.assertIn("Canberra", chat.ask("What is the capital of Australia?"))
        self.assertIn("[", chat.ask("And of France?"))
        chat.type("/list\n")
        self.assertRegex(chat.read_until("\n> "), r"\n\d+  What is the capital of Australia\?\n")
        chat.type("/help\n")
        self.assertIn("/continue", chat.read_until("leaves.\n> "))
        chat.type("/dance\n")
        self.assertIn("not a command", chat.read_until("> "))
        self.assertEqual(chat.close(), 0)

    def test_ctrl_c_stops_the_answer_and_continue_goes_on(self):
        chat = Terminal(self.path("home"))
        chat.read_until("> ")
        chat.type("Tell me a very long story about a lighthouse.\n")
        chat.read_until("lighthouse.\n")
        while len(chat.seen.strip()) < 5:  # the answer has begun
            chat.seen += os.read(chat.fd, 65536).decode(errors="replace")
        start = time.monotonic()
        chat.type("\x03")
        stopped = chat.read_until("]\n> ")
        self.assertLess(time.monotonic() - start, 10)
        self.assertIn("[cancelled: ", stopped)
        chat.type("/continue\n")
        chat.read_until("/continue\n")
        while not chat.seen.strip():
            chat.seen += os.read(chat.fd, 65536).decode(errors="replace")
        chat.type("\x03")
        self.assertIn("[cancelled: ", chat.read_until("]\n> "))
        # Ctrl-C at the prompt only reminds.
        chat.type("\x03")
        self.assertIn("Ctrl-D leaves", chat.read_until("commands.\n"))
        chat.read_until("> ")
        self.assertEqual(chat.close(), 0)

    def test_a_text_cannot_steer_the_terminal(self):
        self.good("chat", "-n", "1", stdin=b"red \x1b[31m \xc2\x9b31m\x07\n")
        piped = self.good("chat", stdin=b"/open 1\n").stdout
        self.assertIn(b"> red \x1b[31m \xc2\x9b31m\x07\n", piped)
        chat = Terminal(self.path("home"))
        chat.read_until("> ")
        chat.type("/open 1\n")
        chat.read_until("/open 1\n")
        self.assertIn("red \ufffd[31m \ufffd31m\ufffd\n", chat.read_until("\n> "))
        chat.type("/open 99\n")
        chat.read_until("> ")
        self.assertEqual(chat.close(), 0)


class FromAPipe(client.CliTest):
    def test_answers_alone_go_to_standard_output(self):
        done = self.good("chat", stdin=b"What is the capital of Australia?\n")
        self.assertIn(b"Canberra", done.stdout)
        self.assertNotIn(b"tokens", done.stdout)
        self.assertIn(b"[stop: ", done.stderr)

    def test_chat_and_run_write_the_same(self):
        run = self.good_json("run", "-p", "Name three colours.", "-n", "20")
        chat = self.good_json("chat", "-n", "20", stdin=b"Name three colours.")
        self.assertEqual([message["role"] for message in chat["messages"]], ["user", "assistant"])
        self.assertEqual(chat["messages"][1]["content"], run["text"])
        self.assertEqual(chat["messages"][1]["ids"], run["ids"])
        self.assertEqual(chat["messages"][1]["stats"]["finish"], "length")

    def test_the_next_start_finds_the_conversation(self):
        first = self.good_json("chat", "-n", "8", stdin=b"My name is Ada.\n")
        number = first["conversation"]
        listed = self.good("chat", stdin=b"/list\n").stdout.decode()
        self.assertIn("%d  My name is Ada." % number, listed)
        shown = self.good("chat", stdin=b"/open %d\n" % number).stdout.decode()
        self.assertIn("> My name is Ada.\n", shown)
        self.assertIn(first["messages"][1]["content"].strip(), shown)
        second = self.good_json("chat", "-n", "8", stdin=b"/open %d\nAnd yours?\n" % number)
        self.assertEqual(second["messages"][:2], first["messages"])
        self.assertEqual(len(second["messages"]), 4)
        new = self.good_json("chat", "-n", "4", stdin=b"/open %d\n/new\nHello\n" % number)
        self.assertNotEqual(new["conversation"], number)

    def test_regenerate_keeps_the_earlier_answer_and_continue_extends(self):
        chat = self.good_json("chat", "-n", "6", stdin=b"Tell me a story.\n/regen\n")
        self.assertNotEqual(chat["messages"][1]["stats"]["seed"], 0)
        plain = self.good_json("run", "-p", "Tell me a story.", "-n", "12")
        longer = self.good_json("chat", "-n", "6", stdin=b"Tell me a story.\n/continue\n")
        self.assertEqual(longer["messages"][1]["ids"], plain["ids"])
        self.assertEqual(longer["messages"][1]["content"], plain["text"])

    def test_a_model_without_template_continues_the_text(self):
        text = "The capital of France is"
        done = self.run_cli("chat", "-m", client.GEMMA3, "-n", "3", stdin=text.encode())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"no chat template", done.stderr)
        run = self.run_cli("run", "--raw", "-p", text, "-m", client.GEMMA3, "-n", "3")
        self.assertEqual(done.stdout, run.stdout)

    def test_what_fails_is_told(self):
        done = self.run_cli("chat", "-m", client.SMOLLM2, "--ctx", "16", stdin=b"word " * 40 + b"\n")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"context of 16", done.stderr)
        self.assertIn(b"no answer yet", self.good("chat", stdin=b"/regen\n").stderr)
        self.assertIn(b"/open needs", self.good("chat", stdin=b"/open x\n").stderr)
        self.bad("chat", "-m", "nothing")
        self.bad("chat", "-m", client.SMOLLM2, "--temp", "-1")


if __name__ == "__main__":
    client.main()
