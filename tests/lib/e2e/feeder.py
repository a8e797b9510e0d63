# SPDX-License-Identifier: MIT
"""Keeps a filter program (sqlite3, gzip, perl ...) working: writes chunks of input to it for as long as a case needs.

Chunk i is always the same bytes, so an untraced run with as many chunks must give the same output.
"""
import random
import threading


def sqlite_chunk(i):
    if i == 0:
        return b"create table t(a integer primary key, b text, c real); create index tb on t(b);\n"
    rows = ",".join(f"({i * 50 + k}, 'row {(i * 7919 + k * 104729) % 1000003}', {k}.5)" for k in range(50))
    return (f"insert into t values {rows};\n"
            f"select count(*), sum(a), max(b), round(avg(c), 3) from t where b like '%{i % 10}%';\n"
            f"update t set b = upper(b) || '{i}' where a % 7 = {i % 7} and a > {i * 50 - 500};\n"
            "select group_concat(b, '|') from (select b from t order by b desc limit 5);\n").encode()


def text_chunk(i):
    rng = random.Random(i)
    words = [b"probe", b"pad", b"ring", b"site", b"relocate", b"drain", b"target", b"trace"]
    return b"".join(b"%d %s %d\n" % (i, rng.choice(words), rng.randrange(1 << 30)) for _ in range(400))


CHUNKS = {"sqlite": sqlite_chunk, "text": text_chunk}


class Feeder:
    def __init__(self, kind):
        self.chunk, self.fed, self.bytes = CHUNKS[kind], 0, 0
        self.failed = None
        self._stop = threading.Event()
        self._thread = None

    def start(self, pipe):
        self._thread = threading.Thread(target=self._feed, args=(pipe,), daemon=True)
        self._thread.start()

    def _feed(self, pipe):
        try:
            while not self._stop.is_set():
                data = self.chunk(self.fed)
                pipe.write(data)
                pipe.flush()
                self.fed, self.bytes = self.fed + 1, self.bytes + len(data)
        except (BrokenPipeError, ValueError) as error:
            self.failed = error

    def stop(self):
        """No chunk is cut: after this, `fed` says how many the program got."""
        self._stop.set()
        self._thread.join()

    def abandon(self):
        self._stop.set()

    def input(self):
        return b"".join(self.chunk(i) for i in range(self.fed))
