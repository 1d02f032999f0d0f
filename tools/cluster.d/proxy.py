"""Stands between nodes and a server, and cuts the connection at a step of an append.

It reads PostgreSQL's messages (the manual, "Message Formats") as far as it must: each after a byte of its
kind and its length, the first one of a connection without a kind. An append is what binds values to the
statement `append`; its answer ends with the second `ReadyForQuery` behind it, that of the query which is
pipelined behind the commit.
"""
import os
import socket
import struct
import threading

# Where a connection is cut: around the request, around its answer. `swallow` cuts nothing: no byte of the
# answer comes.
STEPS = ("before", "request", "sent", "answer", "reply", "after", "swallow")


class Trap:
    """Where the next append is cut, whoever sends it."""

    def __init__(self):
        self.step = None
        self.fired = threading.Event()
        self.lock = threading.Lock()

    def arm(self, step):
        """Returns what tells that it was cut."""
        assert step in STEPS
        with self.lock:
            self.fired = threading.Event()
            self.step = step
        return self.fired

    def take(self, *steps):
        """The step, if it is one of these; it is taken once."""
        with self.lock:
            if self.step not in steps:
                return None
            step, self.step = self.step, None
            return step


class Proxy:
    """One server's place, at another path."""

    def __init__(self, path, target, trap):
        self.path, self.target, self.trap = path, target, trap
        self.lock = threading.Lock()
        self.pairs = []
        self.open()

    def open(self):
        """Whoever connects reaches the server."""
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(64)
        threading.Thread(target=self.accept, args=(self.listener,), daemon=True).start()

    def shut(self):
        """Nobody does any more: nobody listens."""
        os.remove(self.path)
        with self.lock:
            listener, self.listener = self.listener, None
        close((listener,))
        self.drop()

    def drop(self):
        """Ends all connections."""
        with self.lock:
            pairs, self.pairs = self.pairs, []
        for one in pairs:
            close(one)

    def close(self):
        """Whoever connects is accepted and closed at once, as by what forwards to a server that is gone."""
        self.target += ".gone"
        self.drop()

    def go_on(self):
        self.target = self.target.removesuffix(".gone")

    def accept(self, listener):
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            with self.lock:
                is_open = self.listener is listener
                self.pairs.append((client, server))
            try:
                if not is_open:
                    raise OSError("shut")
                server.connect(self.target)
            except OSError:
                close((client, server))
                continue
            Link(self, client, server)


class Link:
    """One connection, both ways."""

    def __init__(self, proxy, client, server):
        self.trap, self.ends = proxy.trap, (client, server)
        self.cutting = None
        self.ready = 0
        for pump in (self.requests, self.answers):
            threading.Thread(target=self.guarded, args=(pump, client, server), daemon=True).start()

    def guarded(self, pump, client, server):
        try:
            pump(client, server)
        except (OSError, ConnectionError):
            pass
        finally:
            close(self.ends)

    def requests(self, client, server):
        (length,) = struct.unpack(">I", exactly(client, 4))
        server.sendall(struct.pack(">I", length) + exactly(client, length - 4))
        while True:
            message = read(client)
            if is_append(message):
                step = self.trap.take("before", "request")
                if step == "request":
                    server.sendall(message[:len(message) // 2])
                if step:
                    self.trap.fired.set()
                    return
                # What follows in one go: Describe, Execute, Sync, and the query behind the commit.
                step = self.trap.take("sent", "answer", "reply", "after", "swallow")
                if step:
                    self.ready = 0
                    self.cutting = step
                if step == "sent":
                    server.sendall(message)
                    while (message := read(client))[:1] != b"S":
                        server.sendall(message)
                    server.sendall(message)
                    self.trap.fired.set()
                    return
            server.sendall(message)

    def answers(self, client, server):
        while True:
            message = read(server)
            step = self.cutting
            if step in ("answer", "swallow"):
                self.trap.fired.set()
                if step == "answer":
                    return
                continue
            if step == "reply" and message[:1] == b"D":
                client.sendall(message[:len(message) // 2])
                self.trap.fired.set()
                return
            client.sendall(message)
            if message[:1] == b"Z" and step == "after":
                self.ready += 1
                if self.ready == 2:
                    self.trap.fired.set()
                    return


def close(ends):
    for end in ends:
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        end.close()


def exactly(source, count):
    parts = []
    while count:
        part = source.recv(min(count, 1 << 20))
        if not part:
            raise ConnectionError("it ended")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def read(source):
    head = exactly(source, 5)
    return head + exactly(source, struct.unpack(">I", head[1:])[0] - 4)


def is_append(message):
    """Bind: the portal's name, then the statement's."""
    return message[:1] == b"B" and message[5:].split(b"\0", 2)[1] == b"append"


class Between:
    """Both servers' places for one node, in a folder of its own, which it takes for the host."""

    def __init__(self, folder, name, ports, trap):
        self.folder = os.path.join(folder, name)
        os.mkdir(self.folder, 0o755)
        self.proxies = {
            server: Proxy("%s/.s.PGSQL.%d" % (self.folder, port), "%s/.s.PGSQL.%d" % (folder, port), trap)
            for server, port in ports.items()}

    def shut(self, server):
        self.proxies[server].shut()

    def open(self, server):
        self.proxies[server].open()

    def close(self, server):
        self.proxies[server].close()

    def go_on(self, server):
        self.proxies[server].go_on()
