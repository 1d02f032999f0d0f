"""Processes that take part in a cluster, and what they say."""
import os
import signal
import subprocess
import threading
import time

from proxy import Between, Trap

PORTS = {"a": 5432, "b": 5433}


class Lines:
    """What all said, and how often they were told yes."""

    def __init__(self):
        self.all, self.acknowledged, self.of = [], 0, {}
        self.lock = threading.Lock()

    def add(self, node, words):
        with self.lock:
            self.all.append((node, words))
            if words[0] == "acked":
                self.acknowledged += 1
                self.of[node] = self.of.get(node, 0) + 1


class Node:
    """One process; lines come with the moment at which they were read."""

    def __init__(self, words, lines, between):
        self.lines, self.between = lines, between
        self.own = []
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            # A line that was cut by a kill says nothing.
            if not line.endswith("\n"):
                continue
            words = line.split()
            self.own.append(words)
            self.lines.add(self, words)

    def signal(self, number):
        if self.process.poll() is None:
            os.kill(self.process.pid, number)

    def end(self):
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGKILL)
        self.process.wait()
        self.reader.join()

    def leads(self):
        """Whether it was the last to say that it leads, and does not say that it lost."""
        if self.process.poll() is not None:
            return False
        for words in reversed(self.own):
            if words[0] == "led":
                return True
            if words[0] == "lost":
                return False
        return False

    def term(self):
        return max([int(words[1]) for words in self.own if words[0] == "led"], default=0)

    def is_deposed(self):
        return self.process.poll() is not None or not self.leads()


class Nodes:
    """All of them; one that ends is started anew."""

    def __init__(self, program, pair, schema, options=(), asynchronous=False):
        self.program, self.pair, self.schema, self.options = program, pair, schema, list(options)
        self.all, self.every, self.said = [], [], Lines()
        self.number = self.refilled = 0
        self.trap = Trap()
        subprocess.run([program, "create", place(pair.folder), schema] + (["asynchronous"] if asynchronous else []),
                       check=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self, count):
        """Each reaches the servers by a way of its own, which can be cut."""
        for number in range(count):
            self.add(Between(self.pair.folder, "%s%d" % (self.schema[0], number), PORTS, self.trap))

    def add(self, between):
        self.number += 1
        words = [self.program, "run", place(between.folder), self.schema, "n%d" % self.number]
        node = Node(words + self.options, self.said, between)
        self.all.append(node)
        self.every.append(node)

    def replace(self, node):
        """One that ended, or is to: another one begins with nothing at its place."""
        node.end()
        self.all.remove(node)
        self.add(node.between)

    def leader(self, but=None):
        leading = [node for node in self.all if node is not but and node.leads()]
        return max(leading, key=lambda node: node.term(), default=None)

    def kill_leader(self):
        self.wait(lambda: self.leader() is not None, "a leader")
        self.replace(self.leader())

    def said_of(self, word, but=None):
        """What follows a word, of all who said it."""
        return [words[1:] for node, words in list(self.said.all) if words[0] == word and node is not but]

    def acknowledged(self, but=None):
        return self.said.acknowledged - (self.said.of.get(but, 0))

    def wait_for_acknowledgements(self, count, but=None):
        start = self.acknowledged(but)
        self.wait(lambda: self.acknowledged(but) >= start + count, "acknowledgements")

    def wait(self, condition, what, seconds=180):
        end = time.monotonic() + seconds
        while not condition():
            for node in list(self.all):
                if node.process.poll() is not None:
                    self.refilled += 1
                    self.replace(node)
            if time.monotonic() > end:
                raise RuntimeError("waited %d s for %s" % (seconds, what))
            time.sleep(0.01)

    def stop(self):
        for node in self.all:
            node.end()
        self.all = []

    def lines(self):
        """What each said, in its order."""
        return [node.own for node in self.every]


def place(folder):
    """libpq's connection string."""
    return ("host=%s,%s port=%d,%d user=postgres dbname=postgres target_session_attrs=read-write"
            % (folder, folder, PORTS["a"], PORTS["b"]))
