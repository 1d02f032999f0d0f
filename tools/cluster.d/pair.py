#!/usr/bin/env python3
"""A PostgreSQL primary and a synchronous standby on Unix sockets, in a folder of their own.

pair.py FOLDER start [--while PID] [--asynchronous]   makes and starts both; prints nothing
pair.py FOLDER secure                                 makes and starts `t` beside them; prints its port
pair.py FOLDER do ACTION SERVER                       ACTION: start, stop, kill, freeze, thaw, promote
pair.py FOLDER remove                                 stops both and removes the folder

SERVER is `a` (the primary at first, port 5432) or `b` (port 5433); tools/cluster makes a third, `c` (5434). As root all
run as the user `postgres`. `t` speaks TLS on a port of this machine, as `localhost`: its root is FOLDER/root.crt, that of
nobody FOLDER/other.crt. With --while they end, and the folder goes, once that process is gone. Exit 69: there is
no PostgreSQL 15 or newer here.
"""
import argparse, glob, os, pwd, shutil, signal, socket, subprocess, sys, time

PORTS = {"a": 5432, "b": 5433, "c": 5434, "t": 5435}
SETTINGS = """
listen_addresses = ''
unix_socket_directories = '{folder}'
port = {port}
cluster_name = '{name}'
wal_level = replica
max_wal_senders = 8
hot_standby = on
wal_log_hints = on
wal_keep_size = 256MB
max_connections = 100
shared_buffers = 32MB
# Of a server that is killed nothing stays in the memory of the machine: it goes with the folder.
dynamic_shared_memory_type = mmap
wal_receiver_timeout = 5s
wal_sender_timeout = 5s
wal_retrieve_retry_interval = 200ms
log_line_prefix = '%m {name} %p '
"""


class Absent(Exception):
    """There is no PostgreSQL."""


def programs():
    """The folder of the newest PostgreSQL's programs."""
    found = []
    for folder in glob.glob("/usr/lib/postgresql/*/bin"):
        version = folder.split("/")[-2]
        if version.isdigit() and int(version) >= 15 and os.path.exists(folder + "/initdb"):
            found.append((int(version), folder))
    if not found:
        raise Absent("there is no PostgreSQL 15 or newer (Debian: postgresql-15)")
    return max(found)[1]


class Pair:
    """Both servers."""

    def __init__(self, folder):
        self.folder = os.path.abspath(folder)
        self.bin = programs()

    def run(self, *words, check=True):
        """Runs a program as the user who may run PostgreSQL."""
        as_other = []
        if os.getuid() == 0:
            as_other = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"]
        done = subprocess.run(
            as_other + list(words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, cwd="/",
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "PGHOST": self.folder, "PGUSER": "postgres"},
        )
        if check and done.returncode != 0:
            raise RuntimeError(f"{words[0]}: {done.stdout}")
        return done.stdout

    def data(self, name):
        return f"{self.folder}/{name}"

    def make(self, synchronous=True):
        """Makes and starts both; the standby is named once it streams."""
        os.makedirs(self.folder, exist_ok=True)
        os.chmod(self.folder, 0o711)
        if os.getuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(self.folder, user.pw_uid, user.pw_gid)
        self.begin("a")
        self.settings("a")
        self.start("a")
        self.copy("a", "b")
        self.start("b")
        if synchronous:
            self.name_standby("a", "b")
            self.wait(lambda: "sync" in self.sql("a", "SELECT sync_state FROM pg_stat_replication"), "a standby")

    def begin(self, name):
        """Makes a server's directory."""
        self.run(f"{self.bin}/initdb", "-D", self.data(name), "-A", "trust", "-U", "postgres", "--no-sync", "-E", "UTF8",
                 "--data-checksums")

    def secure(self):
        """Makes and starts a server that speaks TLS on a port of this machine, which it returns."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            PORTS["t"] = free.getsockname()[1]
        self.begin("t")
        for name in ("root", "other"):
            self.run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                     "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
                     "-keyout", f"{self.data('t')}/{name}.key", "-out", f"{self.data('t')}/{name}.crt")
            # The directory above lets nobody else in.
            shutil.copyfile(f"{self.data('t')}/{name}.crt", f"{self.folder}/{name}.crt")
        self.settings("t", "listen_addresses = 'localhost'\nssl = on\nssl_cert_file = 'root.crt'\nssl_key_file = 'root.key'\n")
        self.start("t")
        return PORTS["t"]

    def copy(self, source, target):
        """Makes a server a standby of another one, from the beginning."""
        shutil.rmtree(self.data(target), ignore_errors=True)
        self.run(f"{self.bin}/pg_basebackup", "-h", self.folder, "-p", str(PORTS[source]), "-U", "postgres",
                 "-D", self.data(target), "-R", "-X", "stream", "--no-sync", "-c", "fast")
        self.settings(target)
        with open(self.data(target) + "/postgresql.auto.conf", "a") as file:
            file.write(f"primary_conninfo = 'host={self.folder} port={PORTS[source]} user=postgres"
                       f" application_name={target}'\n")
            file.write("synchronous_standby_names = ''\n")

    def settings(self, name, others=""):
        with open(self.data(name) + "/pair.conf", "w") as file:
            file.write(SETTINGS.format(folder=self.folder, port=PORTS[name], name=name) + others)
        with open(self.data(name) + "/postgresql.conf", "a") as file:
            file.write("include 'pair.conf'\n")
        if os.getuid() == 0:
            user = pwd.getpwnam("postgres")
            for file in ("pair.conf", "postgresql.conf"):
                os.chown(f"{self.data(name)}/{file}", user.pw_uid, user.pw_gid)

    def name_standby(self, server, names):
        """Whom commits wait for; '' for nobody."""
        self.sql(server, f"ALTER SYSTEM SET synchronous_standby_names = '{names}'")
        self.sql(server, "SELECT pg_reload_conf()")

    def sql(self, server, statement, check=True):
        return self.run(f"{self.bin}/psql", "-h", self.folder, "-p", str(PORTS[server]), "-U", "postgres", "-d",
                        "postgres", "-XqAt", "-v", "ON_ERROR_STOP=1", "-c", statement, check=check).strip()

    def start(self, name):
        self.run(f"{self.bin}/pg_ctl", "-D", self.data(name), "-w", "-t", "120", "-l",
                 f"{self.folder}/{name}.log", "start")

    def stop(self, name, mode="fast"):
        self.run(f"{self.bin}/pg_ctl", "-D", self.data(name), "-w", "-m", mode, "stop", check=False)

    def promote(self, name):
        self.run(f"{self.bin}/pg_ctl", "-D", self.data(name), "-w", "promote")

    def pid(self, name):
        try:
            with open(self.data(name) + "/postmaster.pid") as file:
                return int(file.readline())
        except (FileNotFoundError, ValueError):
            return None

    def processes(self, name):
        """The postmaster and its children."""
        parent = self.pid(name)
        if parent is None:
            return []
        listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(parent)], capture_output=True, text=True).stdout
        return [parent] + [int(pid) for pid in listed.split()]

    def signal(self, name, number):
        for pid in self.processes(name):
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def kill(self, name):
        """As when the machine dies: nothing is said to anybody."""
        pids = self.processes(name)
        self.signal(name, signal.SIGKILL)
        self.wait(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in pids), "the end of a server")
        # What a machine that is gone leaves would keep the next start waiting.
        for file in (f"{self.data(name)}/postmaster.pid",):
            if os.path.exists(file):
                os.remove(file)

    def remove(self):
        for name in PORTS:
            self.signal(name, signal.SIGCONT)
            self.signal(name, signal.SIGKILL)
        time.sleep(0.2)
        shutil.rmtree(self.folder, ignore_errors=True)

    def act(self, action, name):
        {
            "start": self.start, "stop": self.stop, "kill": self.kill, "promote": self.promote,
            "freeze": lambda name: self.signal(name, signal.SIGSTOP),
            "thaw": lambda name: self.signal(name, signal.SIGCONT),
        }[action](name)

    @staticmethod
    def wait(condition, what, seconds=120):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise RuntimeError(f"waited {seconds} s for {what}")
            time.sleep(0.02)


def watch(pair, pid):
    """In a process of its own: removes the pair once another process is gone."""
    if os.fork() != 0:
        return
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for place in range(3):
        os.dup2(null, place)
    # Who waits for the end of whoever started this waits for descriptors, too.
    os.closerange(3, 4096)
    while os.path.exists(f"/proc/{pid}") and os.path.exists(pair.folder):
        time.sleep(0.5)
    pair.remove()
    os._exit(0)


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("folder")
    words.add_argument("command", choices=["start", "secure", "do", "remove"])
    words.add_argument("action", nargs="?")
    words.add_argument("server", nargs="?", choices=list(PORTS))
    words.add_argument("--while", dest="pid", type=int)
    words.add_argument("--asynchronous", action="store_true")
    given = words.parse_args()
    try:
        pair = Pair(given.folder)
    except Absent as absent:
        print(absent, file=sys.stderr)
        return 69
    if given.command == "start":
        if given.pid:
            os.makedirs(pair.folder, exist_ok=True)
            watch(pair, given.pid)
        pair.make(synchronous=not given.asynchronous)
    elif given.command == "secure":
        print(pair.secure())
    elif given.command == "do":
        pair.act(given.action, given.server)
    else:
        pair.remove()
    return 0


if __name__ == "__main__":
    sys.exit(main())
