"""One file an answer, with what no two runs share masked by name."""

import os
import re
import shutil

# What differs between two runs of one command on one ledger, and why: nothing else does.
MASKS = [
    # A new event or request gets a random id where none is given.
    ("id", rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
    # A request's id is random: the header and the problem's member.
    # What the disk of this machine has left.
    ("free", rb"(?<=\"free\":)\d+|\d+ MB(?= free)"),
    ("request", rb"(?<=request-id: )[0-9a-f]{32}|(?<=\"requestId\":\")[0-9a-f]{32}"),
    # A webhook's id is drawn, and its secret follows from it.
    ("webhook", rb"\bwh_[0-9a-f]{16}"),
    ("secret", rb"\bwhsec_[A-Za-z0-9+/]{43}="),
    # A ticket for notices is sealed, with a random nonce.
    ("ticket", rb"(?<=\?ticket=)[\w-]+"),
    # When a delivery is tried again is moved by chance, so that not all come back together.
    ("next", rb"(?<=\"nextAttemptAt\":\")[^\"]+"),
    # A message's id follows from the event's place in the log, before which what is noted of support may stand.
    ("message", rb"\bmsg_[0-9a-f]{32}"),
    # How long an address took that nothing is sent to.
    ("time", rb"(?<=\"private_address\",\"milliseconds\":)\d+|(?<=private_address in )\d+"),
]
# Behind a change also its sealed bytes: each seal has a random nonce.
SEALED = [
    ("hash", rb"(?:(?<![A-Za-z0-9+/])|(?<=\\n))[A-Za-z0-9+/]{43}="),
    ("signature", rb"(?<=/log )[A-Za-z0-9+/]{91}="),
    ("tag", rb"(?<=etag: \")[0-9a-f]{32}"),
]


class Recording:
    """The folder of the answers."""

    def __init__(self, folder, only=""):
        self.folder = folder
        self.only = [word for word in only.split(",") if word]
        self.count = 0
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)

    def wants(self, name):
        return not self.only or any(word in name for word in self.only)

    def keep(self, name, parts, sealed=False):
        """An answer in parts, each (title, bytes); of a ledger that was changed if `sealed`."""
        text = b"".join(
            b"== %s\n%s%s" % (title.encode(), data, b"" if data.endswith(b"\n") else b"\n(no newline)\n")
            for title, data in parts if data is not None)
        path = os.path.join(self.folder, re.sub(r"[^\w.@,=+-]+", "_", name)[:180] + ".txt")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.exists(path):
            raise ValueError("asked twice: %s" % name)
        with open(path, "wb") as file:
            file.write(masked(text, MASKS + SEALED if sealed else MASKS))
        self.count += 1


def masked(text, masks):
    for name, pattern in masks:
        text = re.sub(pattern, lambda match: b"<%s>" % name.encode(), text)
    return text
