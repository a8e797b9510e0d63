#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A debuginfod server on the loopback, for one directory: serve_debug.py [--stall]

Its port goes to the file `port`. With --stall half of a file is sent, `half` is printed, and nothing more comes.
"""
import http.server
import pathlib
import sys
import time


class Handler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        path = pathlib.Path(self.path.lstrip("/"))
        if "--stall" not in sys.argv or not path.is_file():
            return super().do_GET()
        content = path.read_bytes()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[:len(content) // 2])
        self.wfile.flush()
        print("half", flush=True)
        while True:
            time.sleep(1)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
pathlib.Path("port.new").write_text(str(server.server_port))
pathlib.Path("port.new").rename("port")
print("listening", flush=True)
server.serve_forever()
