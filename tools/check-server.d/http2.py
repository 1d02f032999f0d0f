"""HTTP/2 over TLS: curl, httpx and the reference library h2; limits hold for streams as for connections."""

import asyncio
import concurrent.futures
import select
import socket
import ssl
import subprocess
import time

import h2.config
import h2.connection
import h2.events
import httpx

from harness.report import Fault

ANSWERS = 200
STREAMS = 30
PATIENCE = 20
# RFC 9113, sections 6.7 and 6.8.
PING, GOAWAY = 6, 7


def context(certificate, protocols):
    made = ssl.create_default_context(cafile=certificate)
    made.set_alpn_protocols(protocols)
    return made


def check_curl(server, certificate):
    """Both versions on one port, as the client chooses."""
    for flag, version in (("--http2", "2"), ("--http1.1", "1.1")):
        done = subprocess.run(
            ["curl", "--silent", "--show-error", "--max-time", "20", flag, "--cacert", certificate,
             "--write-out", " %{http_version}", server.url + "/healthz"],
            capture_output=True, text=True, timeout=60, check=False)
        if done.returncode or done.stdout.split()[-1] != version or '"ok"' not in done.stdout:
            raise Fault("curl %s ended with %d: %s%s" % (flag, done.returncode, done.stdout, done.stderr))


async def check_calls(server, certificate):
    """Answers, refusals and bodies are the same; many at once on one connection.

    One thread asks: a connection's state is for one at a time.
    """
    async with httpx.AsyncClient(
            http2=True, http1=False, verify=context(certificate, ["h2"]), timeout=60, base_url=server.url,
            headers={"Authorization": "Bearer " + server.key}) as client:
        room = asyncio.Semaphore(16)

        async def ask(number):
            customer = "h%d" % (number % 20)
            async with room:
                if number % 2:
                    return await client.get("/v1/customers/%s/features/export" % customer)
                return await client.post("/v1/customers/%s/grants" % customer, json={
                    "grantId": "g%d" % number, "tier": "pro"})
        statuses = {answer.status_code for answer in await asyncio.gather(*map(ask, range(ANSWERS)))}
        if statuses != {200}:
            raise Fault("HTTP/2: answers are %s" % statuses)
        for request, status in (
                (client.get("/v1/customers/h0", headers={"Authorization": "Bearer no"}), 401),
                (client.get("/nowhere"), 404),
                (client.post("/v1/customers/h0/grants", content=b"{", headers={
                    "Content-Type": "application/json"}), 400),
                (client.post("/v1/customers/h0/grants", content=b" " * (2 << 20), headers={
                    "Content-Type": "application/json"}), 413),
                (client.get("/v1/status"), 200)):
            answer = await request
            if (answer.http_version, answer.status_code) != ("HTTP/2", status):
                raise Fault("HTTP/2: %s %d instead of %d" % (answer.http_version, answer.status_code, status))
            if status >= 400 and answer.json().get("status") != status:
                raise Fault("HTTP/2: no problem document: %s" % answer.text[:200])


class Raw:
    """A connection as h2 speaks it."""

    def __init__(self, server, certificate):
        plain = socket.create_connection((server.host, server.port), 20)
        self.socket = context(certificate, ["h2"]).wrap_socket(plain, server_hostname="localhost")
        self.connection = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
        self.connection.initiate_connection()
        self.server, self.events = server, []
        self.send()

    def send(self):
        self.socket.sendall(self.connection.data_to_send())

    def begin(self):
        """A request whose body never comes."""
        stream = self.connection.get_next_available_stream_id()
        self.connection.send_headers(stream, [
            (":method", "POST"), (":scheme", "https"), (":path", "/v1/customers/h0/grants"),
            (":authority", "localhost"), ("authorization", "Bearer " + self.server.key),
            ("content-type", "application/json")])
        self.send()

    def ask(self):
        """One whole exchange."""
        self.connection.send_headers(self.connection.get_next_available_stream_id(), [
            (":method", "GET"), (":scheme", "https"), (":path", "/healthz"), (":authority", "localhost")],
            end_stream=True)
        self.send()

        def is_answered(events):
            return any(isinstance(event, h2.events.StreamEnded) for event in events)
        if not is_answered(self.listen(PATIENCE, is_answered)):
            raise Fault("HTTP/2: no answer: %s" % self.events)

    def listen(self, seconds, until=lambda events: False):
        """What comes; None among it is the end of the connection."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not until(self.events):
            self.socket.settimeout(max(0.05, end - time.monotonic()))
            try:
                data = self.socket.recv(65536)
            except (TimeoutError, ssl.SSLWantReadError):
                continue
            except (ConnectionError, ssl.SSLError):
                data = b""
            if not data:
                self.events.append(None)
                return self.events
            self.events += self.connection.receive_data(data)
            try:
                self.send()
            except OSError:
                # Nobody listens any more; what was said before is still read.
                pass
        return self.events

    def rest(self):
        """The types of the frames that come until the end; pings are answered. h2 knows none behind a first GOAWAY."""
        kinds, data = set(), b""
        self.socket.settimeout(PATIENCE)
        try:
            while piece := self.socket.recv(65536):
                data += piece
                while len(data) >= 9 and len(data) >= 9 + int.from_bytes(data[:3], "big"):
                    end = 9 + int.from_bytes(data[:3], "big")
                    kinds.add(data[3])
                    if data[3] == PING and not data[4]:
                        self.socket.sendall(data[:4] + b"\x01" + data[5:end])
                    data = data[end:]
        except OSError:
            # Ended without a word of TLS, or not at all; what came is judged.
            pass
        return kinds

    def close(self):
        self.socket.close()


def resets(events):
    return sum(isinstance(event, h2.events.StreamReset) for event in events)


def check_streams(material, words, certificate):
    """Streams count among what an address may have open; the control: with room for them none is closed."""
    for limit, is_held in (("20", True), ("1000000", False)):
        with material.server(words=words, environment={"ENTITLE_CONNECTIONS_PER_ADDRESS": limit}) as server:
            raw = Raw(server, certificate)
            for _ in range(STREAMS):
                raw.begin()
            found = resets(raw.listen(PATIENCE if is_held else 2, lambda events: resets(events) >= STREAMS - 20))
            if is_held and not 10 <= found < STREAMS or not is_held and found:
                raise Fault("HTTP/2: of %d streams %d are closed where %s may be open" % (STREAMS, found, limit))
            raw.close()
            server.require_alive()
            server.stop()


def check_handshakes(material, words):
    """Connections count from their first byte, before anything is spoken; the control is left open."""
    for limit, is_held in (("5", True), ("1000000", False)):
        with material.server(words=words, environment={"ENTITLE_CONNECTIONS_PER_ADDRESS": limit}) as server:
            silent = [socket.create_connection((server.host, server.port), 20) for _ in range(6)]
            # Which of them is one too many is nobody's to say: each has a thread of its own there.
            closed, _, _ = select.select(silent, [], [], PATIENCE if is_held else 2)
            if bool(closed) != is_held:
                raise Fault("TLS: of six silent connections %d are closed where %s may be open" % (len(closed), limit))
            # Nor does one in its handshake hold up the end.
            if server.stop() > 15:
                raise Fault("TLS: silent connections hold up the end")
            for one in silent:
                one.close()


def check_end(material, words, certificate):
    """An idle connection is told that the server goes, and does not hold it up."""
    with material.server(words=words) as server:
        raw = Raw(server, certificate)
        raw.ask()
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            heard = pool.submit(raw.rest)
            seconds = server.stop()
            kinds = heard.result()
        raw.close()
    if seconds > 15 or GOAWAY not in kinds:
        raise Fault("HTTP/2: the end takes %.1f s, and the client hears %s" % (seconds, kinds))


def check_deaf(material, words, certificate):
    """A client that never says that it heard of the end does not hold it up."""
    with material.server(words=words) as server:
        raw = Raw(server, certificate)
        raw.ask()
        # Nothing is read from here on, and no ping answered.
        seconds = server.stop()
        raw.close()
    if seconds > 15:
        raise Fault("HTTP/2: a client that hears nothing holds up the end for %.1f s" % seconds)


def run(material):
    """All of it; how many answers were held."""
    certificate, key = material.certificate("http2")
    words = ["--tls-certificate", certificate, "--tls-key", key]
    with material.server(words=words) as server:
        check_curl(server, certificate)
        asyncio.run(check_calls(server, certificate))
        server.stop()
    check_streams(material, words, certificate)
    check_handshakes(material, words)
    check_end(material, words, certificate)
    check_deaf(material, words, certificate)
    return ANSWERS
