"""tandem-cli cache and disk-restore-check: a chat's texts outlive it, prove themselves, and are left when broken."""

import fcntl
import glob
import json
import os

import client

QUESTION = b"Name three rivers of France, one a line, and say where each of them rises.\n"


class Cache(client.CliTest):
    def files(self):
        return self.good_json("cache", "ls")["files"]

    def test_a_chat_goes_on_after_a_restart(self):
        first = self.good_json("chat", "-n", "20", stdin=QUESTION)
        files = self.files()
        self.assertTrue(files)
        self.assertEqual({file["conversation"] for file in files}, {first["conversation"]})
        prompt = first["messages"][1]["stats"]["prompt_tokens"]
        lines = b"/open %d\nAnd of Spain?\n" % first["conversation"]
        second = self.good_json("chat", "-n", "20", stdin=lines)["messages"][3]
        self.assertGreaterEqual(second["stats"]["cached_tokens"], prompt)
        cold = self.run_cli("chat", "-n", "20", "--no-cache", "--json", "-m", client.SMOLLM2, "--home", self.path("other"),
                            stdin=QUESTION + b"And of Spain?\n", home=False)
        cold = json.loads(cold.stdout)["messages"][3]
        self.assertEqual(cold["stats"]["cached_tokens"], 0)
        self.assertEqual(second["ids"], cold["ids"])
        self.assertGreater(self.files()[0]["end"], second["stats"]["prompt_tokens"])

    def test_prove_drop_check(self):
        self.good("chat", "-n", "8", stdin=QUESTION)
        row = self.files()[0]
        proof = self.good_json("cache", "prove", str(row["id"]))
        self.assertEqual(proof["differing"], 0)
        self.assertGreater(proof["bytes"], 100000)
        self.assertEqual(self.good_json("cache", "check"), {"sound": 1, "removed": []})
        path = os.path.join(self.path("home"), "cache", "texts", row["file"])
        with open(path, "r+b") as file:
            file.seek(-1000, os.SEEK_END)
            byte = file.read(1)
            file.seek(-1000, os.SEEK_END)
            file.write(bytes([byte[0] ^ 1]))
        with open(os.path.join(os.path.dirname(path), "lock"), "rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH)  # as a program that writes
            self.assertIn("nothing was checked", self.bad("cache", "check"))
        self.assertIn("damaged", self.bad("cache", "prove", str(row["id"]), "-m", client.SMOLLM2))
        done = self.run_cli("cache", "check")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"its contents are damaged", done.stdout)
        self.assertFalse(os.path.exists(path))
        self.good("chat", "-n", "8", stdin=QUESTION)
        row = self.files()[0]
        self.good("cache", "drop", str(row["id"]))
        self.assertEqual(self.files(), [])
        self.assertEqual(glob.glob(os.path.join(self.path("home"), "cache", "texts", "*.text")), [])
        self.assertIn("no file", self.bad("cache", "drop", str(row["id"])))
        self.assertIn("whole number", self.bad("cache", "drop", "x"))
        self.assertIn("Say ls", self.bad("cache"))

    def test_none_is_kept(self):
        self.good("chat", "-n", "4", "--disk-cache-mib", "0", stdin=QUESTION)
        self.good("chat", "-n", "4", "--no-cache", stdin=QUESTION)
        self.assertEqual(self.files(), [])

    def test_an_equal_request_is_answered_from_its_response(self):
        lines = QUESTION + b"/new\n" + QUESTION + b"And of Spain?\n"
        found = {}
        for choice in "on", "off":
            answers = self.good_json("chat", "-n", "12", "--response-cache", choice, stdin=lines)["messages"][1::2]
            found[choice] = [answer["stats"]["cache_source"] for answer in answers]
            ids = [answer["ids"] for answer in answers]
            self.assertEqual(ids, found.setdefault("ids", ids))
        self.assertEqual(found["on"], ["response", "prefix"])
        self.assertEqual(found["off"], ["prefix", "prefix"])
        told = self.run_cli("chat", "-n", "12", "--response-cache", "on", "-m", client.SMOLLM2,
                            stdin=QUESTION + b"/new\n" + QUESTION)
        self.assertIn(b"response cache]", told.stderr)
        plain = self.run_cli("chat", "-n", "12", "-m", client.SMOLLM2, stdin=QUESTION + b"/new\n" + QUESTION)
        self.assertNotIn(b"response cache", plain.stderr)
        self.assertEqual(told.stdout, plain.stdout)
        self.assertIn("on or off", self.bad("chat", "--response-cache", "yes"))

    def test_two_processes(self):
        found = self.good_json("disk-restore-check", "--tokens", "1100")
        self.assertTrue(found["cold_equal"] and found["restored_equal"] and found["greedy_equal"], found)
        self.assertEqual(found["restored"], 1099)


if __name__ == "__main__":
    client.main()
