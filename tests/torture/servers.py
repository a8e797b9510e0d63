# SPDX-License-Identifier: MIT
"""Real servers under load, for `make soak`. Each is started in the stage's directory as an ordinary user, listens on a unix socket or on
loopback, and knows what its clients must see: check() raises Wrong if an answer was wrong, late for ever, or missing.
"""
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import time

from e2e import process as e2e_process
from stage import WAIT_S, Wrong

POSTGRES = "/usr/lib/postgresql/15/bin"
POSTGRES_CONFIG = "listen_addresses = ''\nunix_socket_directories = '{dir}'\nfsync = off\nshared_buffers = 64MB\n"
NGINX_CONFIG = """daemon off; worker_processes 2; pid {dir}/pid; error_log {dir}/error.log; {user}
events {{ worker_connections 256; }}
http {{ access_log off; client_body_temp_path {dir}/b; proxy_temp_path {dir}/p; fastcgi_temp_path {dir}/f; uwsgi_temp_path {dir}/u; scgi_temp_path {dir}/s;
server {{ listen 127.0.0.1:{port}; root {dir}/www; }} }}
"""


class Server:
    """A directory, a server in it, its clients."""

    tools = ()
    specs = ()  # what is probed in it

    def __init__(self, stage):
        missing = [tool for tool in self.tools if not shutil.which(tool)]
        if missing:
            raise Wrong(f"{', '.join(missing)} missing: scripts/install-deps.sh soak")
        self.stage, self.children = stage, []
        self.home = stage.scratch / type(self).__name__.lower()
        self.home.mkdir()
        self.as_user = {}
        if os.geteuid() == 0:
            user = pwd.getpwnam("nobody")
            os.chown(self.home, user.pw_uid, user.pw_gid)
            self.as_user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        stage.started.append(self)
        self.start()

    def spawn(self, *argv, **options):
        with open(self.home / "log", "ab") as log:
            child = subprocess.Popen([str(a) for a in argv], cwd=self.home, stdin=subprocess.DEVNULL, stdout=options.pop("stdout", log),
                                     stderr=log, start_new_session=True, **{**self.as_user, **options})
        self.children.append(child)
        return child

    def run(self, *argv):
        return subprocess.run([str(a) for a in argv], cwd=self.home, capture_output=True, text=True, timeout=WAIT_S, **self.as_user)

    def wait_until(self, ready):
        e2e_process.poll(f"{type(self).__name__} to answer", time.monotonic() + WAIT_S, ready)

    def kill(self):
        for child in self.children:
            for pid in e2e_process.session_members(child.pid):
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            child.wait()


class Redis(Server):
    """redis-benchmark beside a client that writes values and reads them back."""

    tools = ("redis-benchmark", "redis-check-rdb")
    specs = ("*Command", "dict*", "process*", "ae*", "*:epoll_wait", "*:memcpy", "sds*")

    def start(self):
        self.socket = self.home / "socket"
        # Debian's redis-tools has the server too, under another name.
        self.server = self.spawn("redis-server", "--port", "0", "--unixsocket", self.socket, "--save", "", executable=shutil.which("redis-check-rdb"))
        self.wait_until(self.socket.exists)
        self.load = None
        self.number = 0

    def pids(self):
        return [self.server.pid]

    def ask(self, *words):
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(WAIT_S)
            s.connect(str(self.socket))
            s.sendall(f"*{len(words)}\r\n".encode() + b"".join(f"${len(w)}\r\n{w}\r\n".encode() for w in words))
            return s.recv(1 << 16)

    def check(self):
        if self.load is None or self.load.poll() is not None:
            if self.load and (self.load.returncode != 0 or "ERR" in self.load.communicate()[0]):
                raise Wrong(f"redis-benchmark exits {self.load.returncode}")
            self.load = self.spawn("redis-benchmark", "-s", self.socket, "-t", "set,get,incr,lpush,lrange_100", "-n", "20000", "-c", "8", "-q",
                                   stdout=subprocess.PIPE, text=True)
        for _ in range(20):
            self.number += 1
            value = str(self.number) * 50
            self.ask("SET", f"soak{self.number % 7}", value)
            answer = self.ask("GET", f"soak{self.number % 7}")
            if answer != f"${len(value)}\r\n{value}\r\n".encode():
                raise Wrong(f"redis answers {answer[:100]!r} instead of {value[:20]}...")

    def finish(self):
        self.check()
        self.load.wait(WAIT_S)


class Nginx(Server):
    """wrk, which must see no error; and the bytes of a file through a socket of our own."""

    tools = ("nginx", "wrk")
    specs = ("ngx_http_*", "ngx_event_*", "*:writev", "*:epoll_wait", "ngx_palloc")

    def start(self):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        (self.home / "www").mkdir()
        self.content = b"".join(b"line %d\n" % i for i in range(2000))
        (self.home / "www/file").write_bytes(self.content)
        (self.home / "nginx.conf").write_text(NGINX_CONFIG.format(dir=self.home, port=self.port, user=""))
        self.server = self.spawn("nginx", "-p", self.home, "-e", self.home / "error.log", "-c", self.home / "nginx.conf")
        self.wait_until(lambda: len(self.pids()) == 3 and self.answers())
        self.load = None

    def pids(self):
        return e2e_process.session_members(self.server.pid)

    def answers(self):
        try:
            self.get()
            return True
        except OSError:
            return False

    def get(self):
        with socket.create_connection(("127.0.0.1", self.port), WAIT_S) as s:
            s.sendall(b"GET /file HTTP/1.0\r\n\r\n")
            return b"".join(iter(lambda: s.recv(1 << 16), b"")).partition(b"\r\n\r\n")[2]

    def check(self):
        if self.load is None or self.load.poll() is not None:
            if self.load:
                self.check_load()
            self.load = self.spawn("wrk", "-t1", "-c8", "-d3s", "--timeout", "30s", f"http://127.0.0.1:{self.port}/file", stdout=subprocess.PIPE, text=True)
        if self.get() != self.content:
            raise Wrong("nginx does not send the file's bytes")

    def check_load(self):
        out = self.load.communicate(timeout=WAIT_S)[0]
        if self.load.returncode != 0 or re.search(r"Socket errors|Non-2xx", out):
            raise Wrong(f"wrk: {out[-400:]}")

    def finish(self):
        self.check()
        self.check_load()


class Postgres(Server):
    """pgbench; at the end the balances of accounts, tellers, branches and the history must add up to the same."""

    tools = (f"{POSTGRES}/postgres", f"{POSTGRES}/initdb", "pgbench", "psql")
    specs = ("exec_*", "heap_*", "LWLock*", "Exec*", "hash_search*", "pq_*", "*:epoll_wait")
    SUMS = ("select sum(abalance) from pgbench_accounts", "select sum(tbalance) from pgbench_tellers", "select sum(bbalance) from pgbench_branches",
            "select coalesce(sum(delta), 0) from pgbench_history")

    def start(self):
        made = self.run(f"{POSTGRES}/initdb", "-D", "data", "-A", "trust", "-U", "soak", "-N")
        if made.returncode != 0:
            raise Wrong(f"initdb: {made.stderr[-300:]}")
        with open(self.home / "data/postgresql.conf", "a") as config:
            config.write(POSTGRES_CONFIG.format(dir=self.home))
        self.server = self.spawn(f"{POSTGRES}/postgres", "-D", "data")
        self.wait_until(lambda: self.sql("select 1") == "1")
        if self.pgbench("-i", "-q", "-s", "2").returncode != 0:
            raise Wrong("pgbench -i fails")
        self.load = None

    def sql(self, query):
        return self.run("psql", "-h", self.home, "-U", "soak", "-Atqc", query, "postgres").stdout.strip()

    def pgbench(self, *words):
        return self.run("pgbench", "-h", self.home, "-U", "soak", *words, "postgres")

    def pids(self):
        """The backends that serve somebody, and the postmaster."""
        return [self.server.pid] + [int(p) for p in self.sql("select pid from pg_stat_activity where application_name = 'pgbench'").split()]

    def check(self):
        if self.load is None or self.load.poll() is not None:
            if self.load:
                self.check_load()
            self.load = self.spawn("pgbench", "-h", self.home, "-U", "soak", "-n", "-c", "3", "-T", "5", "postgres", stdout=subprocess.PIPE, text=True)

    def check_load(self):
        out = self.load.communicate(timeout=WAIT_S)[0]
        if self.load.returncode != 0 or "number of failed transactions: 0" not in out:
            raise Wrong(f"pgbench exits {self.load.returncode}: {out[-400:]}")

    def finish(self):
        if self.load:
            self.check_load()
        sums = [self.sql(query) for query in self.SUMS]
        if len(set(sums)) != 1 or not sums[0]:
            raise Wrong(f"PostgreSQL's balances do not add up: {sums}")


ALL = (Redis, Nginx, Postgres)
