"""What our figures stand beside: other people's programs, on the same records, in the same run."""

import contextlib
import json
import mmap
import os
import re
import shutil
import struct
import subprocess

import machine
import postgres
from harness.install import compiled, install
from harness.report import Fault, Missing, say
from harness.start import ROOT

HERE = os.path.dirname(os.path.abspath(__file__))
PEERS = os.path.join(ROOT, ".build-peers")
TIMEOUT = 3600
# The fastest code that the compiler makes for this machine.
C_FLAGS = ["-O3", "-march=native", "-std=gnu11", "-Wall", "-Wextra"]

# What each reference is, in the words that stand under the table.
WORDS = {
    "lmdb": "LMDB in C, one value a record, MDB_APPEND and MDB_INTEGERKEY, every commit synchronous"
            " (no flags): a log and nothing else, neither sealed nor hashed",
    "lmdb-indexed": "the same with two more B-trees written in the same commits, digest to sequence"
                    " and (stream, sequence), each batch's keys sorted first",
    "mdb_get": "LMDB in C: mdb_get of random 16-byte keys with 64-byte values in one read"
               " transaction, loaded in key order, as many keys as we have customers",
    "c-fold": "C on one core over the same records from memory: walks header and all facts, keeps"
              " one 64-byte state a stream (latest period and owner of a purchase, use of a"
              " customer). It does not sort by effective time, match refunds by transaction, merge"
              " a customer's streams, apply catalogs, or keep stretches of time, all of which our"
              " timelines do",
    "sqlite": "SQLite through GRDB: write-ahead log, synchronous=FULL, 256 MiB cache, 64 MiB between"
              " checkpoints, a fresh table with two indexes, prepared statements; every transaction"
              " syncs for itself, a group is one transaction",
    "postgresql": "PostgreSQL over a Unix socket: fsync and synchronous_commit on, 512 MiB buffers,"
                  " no checkpoint or vacuum in the run, commit_delay 0 (20 and 100 us were no"
                  " faster), a fresh table with two indexes and no primary key; prepared binary"
                  " inserts, one connection a caller, one client thread; groups by COPY (binary)",
    "openssl": "openssl speed by the wall clock: SHA-256 of a record and its prefix and of a node of"
               " 65 bytes, for each record one of both, on both cores; P-256 verification of a"
               " digest, on as many cores as the row says",
}

# These are one program.
IN_C = ("lmdb", "lmdb-indexed", "mdb_get", "c-fold")


def run(words, what):
    """The JSON line that a reference prints."""
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=TIMEOUT, check=False,
            env={**os.environ, "SWIFT_BACKTRACE": "enable=no"})
    except subprocess.TimeoutExpired as error:
        raise Fault("%s does not end" % what) from error
    if done.returncode:
        raise Fault("%s ended with %d: %s" % (what, done.returncode, done.stderr.strip()[-300:]))
    return json.loads(done.stdout)


def has_library(name):
    return machine.output("pkg-config", "--modversion", name) is not None


def sqlite_peer():
    """The program that does the same work in SQLite, built in a package of its own."""
    if not has_library("sqlite3"):
        # No command comes with it: that it is there is asked of pkg-config, after.
        install("the library", "libsqlite3-dev")
        if not has_library("sqlite3"):
            raise Missing("the SQLite library is not there")
    say("bench: building the peers (GRDB)")
    done = subprocess.run(
        ["swift", "build", "-c", "release", "--product", "sqlite-peer",
         "--package-path", os.path.join(HERE, "peers"), "--scratch-path", PEERS],
        capture_output=True, text=True, check=False)
    if done.returncode:
        raise Missing("it does not build: %s" % (done.stdout + done.stderr)[-300:].strip())
    return os.path.join(PEERS, "release", "sqlite-peer")


class Records:
    """A file of records, each after its length (u32, little-endian)."""

    def __init__(self, path):
        self.path = path
        self.made = None

    def prefix(self, limit):
        """A path with no more than the first so many records."""
        end, count = self.end_of(limit)
        if end == os.path.getsize(self.path):
            return self.path
        with open(self.path, "rb") as whole, open(self.path + ".prefix", "wb") as part:
            shutil.copyfileobj(_Limited(whole, end), part, 1 << 20)
        return self.path + ".prefix"

    def mean_bytes(self):
        end, count = self.end_of(None)
        return (end - 4 * count) / count

    def end_of(self, limit):
        """Where the first so many records end, and how many they are."""
        with open(self.path, "rb") as file, mmap.mmap(
                file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            offset = count = 0
            while offset < len(data) and count != limit:
                offset += 4 + struct.unpack_from("<I", data, offset)[0]
                count += 1
        return offset, count


class _Limited:
    """Reads no further than a place."""

    def __init__(self, file, left):
        self.file, self.left = file, left

    def read(self, size):
        data = self.file.read(min(size, self.left))
        self.left -= len(data)
        return data


class References:
    """Builds and starts what a run needs, once; ends it with the run."""

    def __init__(self, scratch, without):
        self.scratch = scratch
        self.without = without
        self.versions = {}
        self.left_out = {}
        self.stack = contextlib.ExitStack()
        self.ready = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stack.close()

    def offers(self, key):
        """Whether a reference is there; says once why not."""
        try:
            self.tool(key)
        except Missing as missing:
            if key not in self.left_out:
                self.left_out[key] = str(missing)
                say("bench: left out: %s: %s" % (key, missing))
        return key not in self.left_out

    def tool(self, key):
        """The program behind a reference, or for PostgreSQL its running server."""
        if key in self.without:
            raise Missing("as --without says")
        kind = "lmdb" if key in IN_C else key
        if kind not in self.ready:
            try:
                self.ready[kind] = getattr(self, "make_" + kind)()
            except Missing as missing:
                self.ready[kind] = missing
        if isinstance(self.ready[kind], Missing):
            raise self.ready[kind]
        return self.ready[kind]

    # MARK: Making them

    def compiled(self, name, library):
        """A C program of this folder, linked with a library."""
        flags = machine.output("pkg-config", "--cflags", "--libs", library) or ""
        return compiled(
            os.path.join(HERE, name + ".c"), self.scratch, *C_FLAGS, *flags.split())

    def make_lmdb(self):
        path = self.compiled("lmdb", "lmdb")
        self.versions["LMDB"] = machine.output(path, "version")
        return path

    def make_sqlite(self):
        return sqlite_peer()

    def make_postgresql(self):
        folder = postgres.installed_folder()
        if not has_library("libpq"):
            install("the library", "libpq-dev")
        if folder is None or not has_library("libpq"):
            raise Missing("neither is it there nor can it be installed")
        client = self.compiled("postgres", "libpq")
        server = self.stack.enter_context(postgres.PostgreSQL(folder, self.scratch))
        self.versions["PostgreSQL"] = server.version()
        return client, server

    def make_openssl(self):
        if not install("openssl", "openssl"):
            raise Missing("the command is not there")
        return "openssl"

    # MARK: Measuring them

    def fresh(self):
        """An empty folder, made anew each time."""
        path = os.path.join(self.scratch, "reference")
        shutil.rmtree(path, ignore_errors=True)
        os.mkdir(path)
        return path

    def lmdb(self, *words):
        return run([self.ready["lmdb"], *map(str, words)], "LMDB")

    def sqlite(self, *words):
        found = run([self.tool("sqlite"), *map(str, words)], "SQLite")
        self.versions["SQLite"] = "SQLite " + found["version"]
        return found

    def postgresql(self, what, path, amount):
        client, server = self.tool("postgresql")
        return run([client, what, path, server.connection(), str(amount)], "PostgreSQL")

    def openssl_speed(self, cores, *words):
        """What all cores did together: for a digest bytes a second, for a signature verifications
        a second (the last figure of its line)."""
        multi = ["-multi", str(cores)] if cores > 1 else []
        done = subprocess.run(
            [self.tool("openssl"), "speed", "-mr", "-elapsed", "-seconds", "1", *multi, *words],
            capture_output=True, text=True, timeout=TIMEOUT, check=False)
        found = re.findall(r"^\+F\d*:.*:([0-9.]+)$", done.stdout, re.MULTILINE)
        if done.returncode or len(found) != 1 or not float(found[0]):
            raise Fault("openssl speed: %s" % (done.stderr or done.stdout)[-300:])
        return float(found[0])
