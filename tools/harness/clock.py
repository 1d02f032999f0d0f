"""A clock that is moved, or stands still, for whoever is started with its environment."""

import os
import struct

from harness.install import compiled


def clock_library(folder):
    """The library that stands between a process and the system's clock."""
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "clock.c")
    return compiled(source, folder, "-shared", "-fPIC", "-ldl")


class Clock:
    """A file that moves the clock, by milliseconds."""

    def __init__(self, tool):
        self.path = os.path.join(tool.scratch, "clock-%d" % tool.count)
        self.environment = {
            "LD_PRELOAD": clock_library(tool.scratch), "CLOCK_FILE": self.path}
        with open(self.path, "wb") as file:
            file.write(bytes(8))

    def move(self, offset):
        with open(self.path, "r+b", buffering=0) as file:
            file.write(struct.pack("<q", offset))
