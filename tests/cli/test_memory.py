"""The memory of a chat that goes on and on comes to rest: what it holds after its first quarter it holds at its end.

TANDEM_SOAK_MINUTES sets how long it goes on (0.5); the caches are small, so that they are full long before.
"""

import fcntl
import os
import subprocess
import tempfile
import threading
import time
import unittest

import client

MINUTES = float(os.environ.get("TANDEM_SOAK_MINUTES", "0.5"))
SAMPLES = 60
# Blocks of the allocator that are held one time and not another.
SLACK_KIB = 6 * 1024
TOPICS = ("bread", "rivers", "the moon", "a garden", "old maps", "bicycles", "tea", "snow")


def lines():
    """Conversations of six turns each, none like another."""
    number = 0
    while True:
        for turn in range(6):
            number += 1
            yield "Question %d, on %s: what should one know of it, and why? Say it in a few words.\n" % (
                number, TOPICS[(number + turn) % len(TOPICS)])
        yield "/new\n"


def held_kib(pid):
    """Private memory and the process's share of the rest, without the mapped model's pages."""
    with open("/proc/%d/smaps_rollup" % pid, encoding="ascii") as file:
        fields = dict(line.split(":") for line in file.read().splitlines()[1:])
    return int(fields["Pss_Anon"].split()[0])


class Memory(client.CliTest):
    def test_a_long_chat(self):
        command = [client.CLI, "chat", "-m", client.SMOLLM2, "--home", self.path("home"), "-n", "24", "--ctx", "1024",
                   "--cache-mib", "24", "--disk-cache-mib", "32", "--response-cache", "on"]
        with tempfile.TemporaryFile() as errors, subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors) as chat:
            fcntl.fcntl(chat.stdin.fileno(), 1031, 4096)  # F_SETPIPE_SZ: little waits to be answered
            end = time.monotonic() + 60 * MINUTES

            def feed():
                try:
                    for line in lines():
                        if time.monotonic() >= end:
                            break
                        chat.stdin.write(line.encode())
                        chat.stdin.flush()
                    chat.stdin.close()
                except BrokenPipeError:  # its status tells
                    pass

            answered = []
            writer = threading.Thread(target=feed)
            reader = threading.Thread(target=lambda: answered.extend(chat.stdout))
            writer.start()
            reader.start()
            held = []
            while time.monotonic() < end and chat.poll() is None:
                held.append(held_kib(chat.pid))
                time.sleep(60 * MINUTES / SAMPLES)
            writer.join()
            reader.join()
            errors.seek(0)
            self.assertEqual((chat.wait(), [line for line in errors if line.startswith(b"tandem-cli:")]), (0, []))
        print("%d lines of answers in %g minutes; MiB held: %s" % (
            len(answered), MINUTES, " ".join("%.1f" % (kib / 1024) for kib in held[::SAMPLES // 12])))
        quarter = len(held) // 4
        early, late = max(held[quarter:2 * quarter]), max(held[-quarter:])
        self.assertLess(late, early + SLACK_KIB)


if __name__ == "__main__":
    client.main()
