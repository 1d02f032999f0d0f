"""Hostile clients, all at once, in a process of their own: attack.py HOST PORT SECONDS

Prints what became of each kind as one JSON object.
"""

import asyncio
import collections
import json
import os
import socket
import sys
import time

DRIP_SECONDS = 0.5
HUGE = 100 << 20
CHUNK = b"x" * 65_536
LOOKED_AT = 1 << 20
ANSWER_SECONDS = 10

HEAD = b"POST /v1/signals/app-store HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"

# Requests that must be refused, by a problem document of a 4xx or by a closed connection.
MALFORMED = {
    "no request": b"\r\n" * 4 + b"nonsense\r\n\r\n",
    "no version": b"GET /healthz\r\n\r\n",
    "a wrong version": b"GET /healthz HTTP/9.9\r\nHost: x\r\n\r\n",
    "the HTTP/2 preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 64,
    "zeros": b"\x00" * 512,
    "a zero in a header": b"GET /healthz HTTP/1.1\r\nHost: x\r\nA: b\x00c\r\n\r\n",
    "a space in a header's name": b"GET /healthz HTTP/1.1\r\nHost: x\r\nA b: c\r\n\r\n",
    "a space before a colon":
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length : 5\r\n\r\nabcde",
    "two lengths": HEAD + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
    "a length and chunks":
        HEAD + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a negative length": HEAD + b"Content-Length: -5\r\n\r\n",
    "a length beyond 64 bits": HEAD + b"Content-Length: 99999999999999999999999\r\n\r\n",
    "a length in words": HEAD + b"Content-Length: five\r\n\r\nabcde",
    "a chunk beyond 64 bits": HEAD + b"Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
    "a chunk without digits": HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n",
    "another coding": HEAD + b"Transfer-Encoding: gzip\r\n\r\nabc",
    "a path of 100 KB": b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    "a header of 100 KB": b"GET /healthz HTTP/1.1\r\nHost: x\r\nA: " + b"a" * 100_000 + b"\r\n\r\n",
    "a thousand headers": b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 1000 + b"\r\n",
    "bytes that are not UTF-8": b"GET /v1/customers/\xff\xfe HTTP/1.1\r\nHost: x\r\n\r\n",
    "an escape that is not UTF-8": b"GET /v1/customers/%ff%fe HTTP/1.1\r\nHost: x\r\n\r\n",
    "a broken escape": b"GET /v1/customers/%zz HTTP/1.1\r\nHost: x\r\n\r\n",
    "an encoded traversal": b"GET /v1/customers/%2e%2e/%2e%2e/etc HTTP/1.1\r\nHost: x\r\n\r\n",
    "a traversal": b"GET /v1/../../../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n",
    "a body that is not UTF-8": HEAD + b"Content-Length: 4\r\nConnection: close\r\n\r\n{\"\xff\"",
    "a parameter that is not known": b"GET /healthz?x=1 HTTP/1.1\r\nHost: x\r\n\r\n",
    "no host": b"GET /healthz HTTP/1.1\r\n\r\n",
    "two hosts": b"GET /healthz HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
    "a tunnel": b"CONNECT localhost:443 HTTP/1.1\r\nHost: localhost:443\r\n\r\n",
    "a method that is not known": b"BREW /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
}


class Kind:
    """What became of one kind of attack."""

    def __init__(self):
        self.begun = self.closed = self.bytes = 0
        self.seconds = 0.0
        self.outcomes = collections.Counter()

    def value(self):
        return {
            "begun": self.begun, "closed": self.closed, "longestSeconds": round(self.seconds, 1),
            "mostBytes": self.bytes, "outcomes": dict(self.outcomes)}


class Attack:
    def __init__(self, host, port, seconds):
        self.host, self.port = host, port
        self.end = time.monotonic() + seconds
        self.kinds = collections.defaultdict(Kind)

    async def connect(self, kind):
        """A connection; nil if the server takes none now."""
        kind.begun += 1
        try:
            return await asyncio.wait_for(
                asyncio.open_connection(self.host, self.port, limit=LOOKED_AT), ANSWER_SECONDS)
        except (OSError, asyncio.TimeoutError):
            kind.outcomes["not connected"] += 1
            return None

    async def hold(self, name, first, drip):
        """Sends the first bytes, then one after the other, until it is cut."""
        kind = self.kinds[name]
        connection = await self.connect(kind)
        if not connection:
            return
        reader, writer = connection
        begin = time.monotonic()
        try:
            writer.write(first)
            await writer.drain()
            while time.monotonic() < self.end:
                try:
                    data = await asyncio.wait_for(reader.read(65_536), DRIP_SECONDS)
                    if not data:
                        kind.closed += 1
                        break
                    kind.outcomes[status_of(data)] += 1
                except asyncio.TimeoutError:
                    if drip:
                        writer.write(drip)
                        await writer.drain()
        except OSError:
            kind.closed += 1
        kind.seconds = max(kind.seconds, time.monotonic() - begin)
        writer.transport.abort()

    async def read_slowly(self, name, requests):
        """Asks for much and takes nothing; looks at the end whether it was cut."""
        kind = self.kinds[name]
        kind.begun += 1
        plain = socket.socket()
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        plain.setblocking(False)
        loop = asyncio.get_running_loop()
        try:
            await loop.sock_connect(plain, (self.host, self.port))
            request = b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n" * requests
            try:
                await asyncio.wait_for(loop.sock_sendall(plain, request), 5)
            except asyncio.TimeoutError:
                pass
            await asyncio.sleep(max(0, self.end - time.monotonic() - 5))
            # One that was cut comes to its end; one that was not goes on with answers.
            while True:
                data = await asyncio.wait_for(loop.sock_recv(plain, 65_536), 2)
                kind.bytes += len(data)
                if not data:
                    break
            kind.closed += 1
        except asyncio.TimeoutError:
            kind.outcomes["still open"] += 1
        except OSError:
            kind.closed += 1
        plain.close()

    async def flood(self, name, head, piece, total):
        """Sends as much as is taken; notes the answer and how many bytes went out."""
        kind = self.kinds[name]
        while time.monotonic() < self.end - ANSWER_SECONDS:
            connection = await self.connect(kind)
            if not connection:
                continue
            reader, writer = connection
            begin, sent = time.monotonic(), 0
            answer = asyncio.ensure_future(reader.read(4096))
            try:
                writer.write(head)
                while sent < total and time.monotonic() < self.end and not answer.done():
                    writer.write(piece)
                    sent += len(piece)
                    await asyncio.wait_for(writer.drain(), ANSWER_SECONDS)
                    # Where there is room nobody waits, and an answer would not be seen.
                    await asyncio.sleep(0)
                data = await asyncio.wait_for(answer, ANSWER_SECONDS)
                kind.outcomes[status_of(data)] += 1
                kind.closed += 1
            except asyncio.TimeoutError:
                # The server may have answered and left the rest unread.
                answered = answer.done() and not answer.cancelled() and answer.result()
                kind.outcomes[status_of(answer.result()) if answered else "no answer"] += 1
                kind.closed += bool(answered)
            except OSError:
                # A reset may overtake the answer (RFC 9112, section 9.6).
                kind.outcomes["closed"] += 1
                kind.closed += 1
            answer.cancel()
            kind.bytes = max(kind.bytes, sent)
            kind.seconds = max(kind.seconds, time.monotonic() - begin)
            writer.transport.abort()
            await asyncio.sleep(0.2)

    async def send_malformed(self):
        """Each of them again and again; what is answered, by its name."""
        while time.monotonic() < self.end - ANSWER_SECONDS:
            for name, data in MALFORMED.items():
                outcome, received = await self.converse("malformed", data, half_close=False)
                if received and not is_problem(received):
                    outcome = "not one problem document"
                self.kinds["malformed"].outcomes["%s: %s" % (name, outcome)] += 1
            await asyncio.sleep(1)

    async def converse(self, name, data, half_close):
        """Sends all, reads to the end or until nothing comes; the first status and all bytes."""
        kind = self.kinds[name]
        connection = await self.connect(kind)
        if not connection:
            return "not connected", b""
        reader, writer = connection
        received = b""
        try:
            writer.write(data)
            await writer.drain()
            if half_close:
                writer.write_eof()
            wait = ANSWER_SECONDS
            while piece := await asyncio.wait_for(reader.read(LOOKED_AT), wait):
                received += piece
                # An answer is complete soon; then the connection may stay open.
                wait = 1
            kind.closed += 1
        except asyncio.TimeoutError:
            pass
        except OSError:
            kind.closed += 1
        writer.transport.abort()
        return status_of(received), received

    async def pipeline(self, name, count):
        """Many requests in one piece; each is answered, in order. Then the same half-closed."""
        kind = self.kinds[name]
        while time.monotonic() < self.end - ANSWER_SECONDS:
            for half_close in (False, True):
                request = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n" * count
                _, received = await self.converse(name, request, half_close)
                answers = received.count(b"HTTP/1.1 200 OK")
                outcome = "all answered"
                if answers != count:
                    outcome = "%d of %d, half-closed: %s" % (answers, count, half_close)
                kind.outcomes[outcome] += 1
            # The half of a request, and no more.
            outcome, _ = await self.converse(name, b"GET /healthz HTT", True)
            kind.outcomes["half a request: %s" % outcome] += 1
            await asyncio.sleep(1)

    async def run(self):
        huge = str(HUGE).encode()
        jobs = [self.hold("idle", b"", b"") for _ in range(2000)]
        jobs += [
            self.hold("slow headers", b"GET /healthz HTTP/1.1\r\nX: ", b"a") for _ in range(150)]
        jobs += [self.hold(
            "slow bodies", HEAD + b"Content-Length: 100000\r\n\r\n{", b" ") for _ in range(150)]
        jobs += [self.read_slowly("slow readers", 400) for _ in range(40)]
        jobs += [self.flood(
            "endless headers", b"GET /healthz HTTP/1.1\r\nHost: x\r\n", b"A: b\r\n" * 1000, HUGE)
            for _ in range(4)]
        jobs += [self.flood(
            "an endless header", b"GET /healthz HTTP/1.1\r\nHost: x\r\nA: ", CHUNK, HUGE)
            for _ in range(2)]
        jobs += [self.flood(
            "huge bodies", HEAD + b"Content-Length: " + huge + b"\r\n\r\n", CHUNK, HUGE)
            for _ in range(2)]
        chunk = b"%x\r\n%s\r\n" % (len(CHUNK), CHUNK)
        jobs += [self.flood(
            "huge bodies in chunks", HEAD + b"Transfer-Encoding: chunked\r\n\r\n", chunk, HUGE)
            for _ in range(2)]
        jobs += [self.flood(
            "huge bodies where none belongs",
            b"GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: " + huge + b"\r\n\r\n", CHUNK,
            HUGE)]
        jobs += [self.send_malformed(), self.pipeline("pipelining", 100)]
        await asyncio.gather(*jobs)


def status_of(data):
    """The status of an answer, or what came instead."""
    if not data:
        return "closed"
    parts = data.split(b" ", 2)
    return parts[1].decode() if parts[0].startswith(b"HTTP/1.") and len(parts) > 1 else "noise"


def is_problem(data):
    """Whether it is one answer, and that a problem document (RFC 9457)."""
    return data.count(b"HTTP/1.1 ") == 1 and b"application/problem+json" in data


def main():
    host, port, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    os.nice(5)
    attack = Attack(host, port, seconds)
    asyncio.run(attack.run())
    print(json.dumps({name: kind.value() for name, kind in attack.kinds.items()}))


if __name__ == "__main__":
    main()
