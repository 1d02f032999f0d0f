"""Servers that do one thing wrong: what finds nothing wrong with them finds nothing."""

import os
import subprocess
import sys

# What is planted, and how it is told.
FAULTS = {
    "dies": "the server died", "answers 500": "answered 500", "grows": "memory grows",
    "falls silent": "no answer"}
AFTER = 1500


def serve(fault):
    """Answers 404 to everything, until the fault shows."""
    import socketserver

    held, counts = [], [0]

    class Handler(socketserver.StreamRequestHandler):
        def handle(self):
            while line := self.rfile.readline():
                length = 0
                while (head := self.rfile.readline()) not in (b"\r\n", b""):
                    if head.lower().startswith(b"content-length:"):
                        length = int(head.split(b":")[1])
                self.rfile.read(length)
                counts[0] += 1
                status = b"404 Not Found"
                if counts[0] > AFTER:
                    if fault == "dies":
                        os._exit(1)
                    if fault == "falls silent":
                        self.rfile.read(1 << 30)
                        return
                    if fault == "answers 500":
                        status = b"500 Internal Server Error"
                if fault == "grows":
                    held.append(bytearray(40_000))
                body = b"" if line.startswith(b"HEAD ") else b"{}"
                self.wfile.write(b"HTTP/1.1 %s\r\nContent-Length: 2\r\n\r\n%s" % (status, body))

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

        def handle_error(self, request, client_address):
            pass

    server = Server(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()


class Stub:
    """A running server with a fault, as the runner knows servers."""

    def __init__(self, fault):
        self.process = subprocess.Popen(
            [sys.executable, __file__, fault], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.host, self.port = "127.0.0.1", int(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def memory(self, name):
        with open("/proc/%d/status" % self.process.pid, encoding="ascii") as file:
            return next(int(line.split()[1]) / 1024 for line in file if line.startswith(name))

    def log_text(self):
        return ""


if __name__ == "__main__":
    serve(sys.argv[1])
