"""Processes that take part in a cluster, and what they say."""
import os
import signal
import subprocess
import threading
import time


class Node:
    """One process; lines come with the moment at which they were read."""

    def __init__(self, words, lines):
        self.lines = lines
        self.own = []
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            # A line that was cut by a kill says nothing.
            if not line.endswith("\n"):
                continue
            entry = (self, line.split())
            self.own.append(entry[1])
            self.lines.append(entry)

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

    def __init__(self, program, pair, schema, early=False, asynchronous=False):
        folder = pair.folder
        self.place = ("host=%s,%s port=5432,5433 user=postgres dbname=postgres target_session_attrs=read-write"
                      % (folder, folder))
        self.program, self.schema, self.early = program, schema, early
        self.all, self.every, self.said = [], [], []
        self.number = 0
        self.stopping = False
        subprocess.run([program, "create", self.place, schema] + (["asynchronous"] if asynchronous else []), check=True)

    def start(self, count):
        for _ in range(count):
            self.add()

    def add(self):
        self.number += 1
        words = [self.program, "run", self.place, self.schema, "n%d" % self.number]
        node = Node(words + (["early"] if self.early else []), self.said)
        self.all.append(node)
        self.every.append(node)

    def leader(self, but=None):
        leading = [node for node in self.all if node is not but and node.leads()]
        return max(leading, key=lambda node: node.term(), default=None)

    def kill_leader(self):
        self.wait(lambda: self.leader() is not None, "a leader")
        node = self.leader()
        node.end()
        self.all.remove(node)
        self.add()

    def acknowledged(self, but=None):
        return sum(1 for node, words in list(self.said) if words[0] == "acked" and node is not but)

    def wait_for_acknowledgements(self, count, but=None):
        start = self.acknowledged(but)
        self.wait(lambda: self.acknowledged(but) >= start + count, "acknowledgements")

    def wait(self, condition, what, seconds=180):
        end = time.monotonic() + seconds
        while not condition():
            for node in list(self.all):
                if node.process.poll() is not None:
                    node.end()
                    self.all.remove(node)
                    self.add()
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
