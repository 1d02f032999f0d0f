"""PostgreSQL for as long as it is measured: a cluster of its own, reached by a socket only."""

import glob
import os
import pwd
import shutil
import signal
import subprocess
import time

from harness.install import install
from harness.report import Fault

# What a ledger needs of it (a commit returns when the disk has it), and otherwise what is fastest
# for so short a run: no checkpoint and no vacuum falls into it.
SETTINGS = {
    "listen_addresses": "", "max_connections": "80", "shared_buffers": "512MB",
    "fsync": "on", "synchronous_commit": "on", "full_page_writes": "on",
    "wal_buffers": "64MB", "max_wal_size": "8GB", "checkpoint_timeout": "1h",
    "autovacuum": "off", "jit": "off",
}
ACCOUNT = "postgres"
DEADLINE = 60


def server_folder():
    """Where the newest server's programs stand (Debian); None: there is none."""
    found = glob.glob("/usr/lib/postgresql/*/bin/initdb")
    return os.path.dirname(max(found, key=lambda path: int(path.split("/")[4]))) if found else None


def installed_folder():
    """The same, after an attempt to install it."""
    if server_folder() is None and install("pg_createcluster", "postgresql-common"):
        # Nobody asked for a cluster that runs by itself.
        with open("/etc/postgresql-common/createcluster.conf", "a", encoding="utf-8") as file:
            file.write("create_main_cluster = false\n")
        install("initdb", "postgresql")
    return server_folder()


class PostgreSQL:
    def __init__(self, folder, scratch):
        self.folder = folder
        self.home = os.path.join(scratch, "cluster")
        self.process = None
        # It refuses to run as root.
        self.account = {}
        os.mkdir(self.home)
        if os.geteuid() == 0:
            user = pwd.getpwnam(ACCOUNT)
            self.account = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
            os.chown(self.home, user.pw_uid, user.pw_gid)
            os.chmod(scratch, 0o711)
        self.log = os.path.join(self.home, "log")

    def connection(self):
        return "host=%s dbname=postgres user=bench" % self.home

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self):
        data = os.path.join(self.home, "data")
        made = subprocess.run(
            [os.path.join(self.folder, "initdb"), "-D", data, "-U", "bench", "-A", "trust",
             "--no-locale", "-E", "UTF8", "--no-sync"],
            capture_output=True, text=True, cwd=self.home, check=False, **self.account)
        if made.returncode:
            raise Fault("initdb: %s" % made.stderr[-300:])
        options = [word for name, value in SETTINGS.items() for word in (
            "-c", "%s=%s" % (name, value))]
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [os.path.join(self.folder, "postgres"), "-D", data, "-k", self.home, *options],
                stdout=log, stderr=log, cwd=self.home, **self.account)
        end = time.monotonic() + DEADLINE
        ready = [os.path.join(self.folder, "pg_isready"), "-q", "-h", self.home, "-U", "bench"]
        while subprocess.run(ready, check=False).returncode:
            if self.process.poll() is not None or time.monotonic() > end:
                with open(self.log, encoding="utf-8", errors="replace") as log:
                    raise Fault("PostgreSQL does not start: %s" % log.read()[-300:])
            time.sleep(0.05)

    def __exit__(self, *_):
        if self.process and self.process.poll() is None:
            # SIGINT is its fast shutdown (PostgreSQL manual, "Shutting Down the Server").
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(DEADLINE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self.home, ignore_errors=True)

    def version(self):
        words = [os.path.join(self.folder, "postgres"), "--version"]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
