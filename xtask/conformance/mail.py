"""A stand-in for a mail server on loopback: `mail.py FOLDER` writes each message into a new file of the folder.

It prints its port as the first line. It accepts every sender and recipient, without TLS and without authentication.
"""

import os
import pathlib
import socketserver
import sys
import uuid

FOLDER = pathlib.Path(sys.argv[1])


class Handler(socketserver.StreamRequestHandler):
    def reply(self, text):
        self.wfile.write(f"{text}\r\n".encode())

    def handle(self):
        self.reply("220 mail.test ready")
        for line in self.rfile:
            verb = line.split(None, 1)[0].upper() if line.strip() else b""
            if verb == b"DATA":
                self.reply("354 end with a line that is a dot")
                self.store()
                self.reply("250 stored")
            elif verb == b"QUIT":
                self.reply("221 bye")
                return
            else:
                self.reply("250 mail.test")

    def store(self):
        """Reads a message and writes it. It gets its name when it is complete, so that no reader sees a part of it."""
        lines = []
        while (line := self.rfile.readline()) not in (b".\r\n", b""):
            # A dot at the beginning of a line is doubled in transit.
            lines.append(line[1:] if line.startswith(b".") else line)
        name = str(uuid.uuid4())
        (FOLDER / name).write_bytes(b"".join(lines))
        os.rename(FOLDER / name, FOLDER / f"{name}.eml")


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True


server = Server(("127.0.0.1", 0), Handler)
print("listening on port", server.server_address[1], flush=True)
server.serve_forever()
