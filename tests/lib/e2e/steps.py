# SPDX-License-Identifier: MIT
"""What each key of a case does. One small function per key; KEYS is the table of them.

  run: CMD       start CMD; when blip says `armed`, let the target do one round of work, then end blip (see until)
  until: WHAT    how the next `run` ends: done (default), end (by itself), TIME, `N chunks` (of a feed), SIGNAL
  repeat: N      the next `run` is done N times, the state compared after each; $CYCLE is its number
  start, go, wait, signal, sleep, end, sh, helper      the same in single steps
  expect, expect-not, expect-match, expect-stderr, expect-exit, error, usage, underlines      what the last command printed
  reads, exact, coverage, check, also, unharmed        see the functions
"""
import ast
import json
import re
import time
import types

from . import state, trace
from .process import Failure, describe, poll
from .scene import ARMED

ERROR_SECONDS = 5


def seconds(text):
    number, unit = re.fullmatch(r"([\d.]+)\s*(ms|s)", text).groups()
    return float(number) * {"ms": 1e-3, "s": 1}[unit]


def strict_json(line):
    """An object of `--json` (docs/json.md). A key that comes twice is an error, as is a line without version and kind."""
    def unique(pairs):
        keys = [key for key, _ in pairs]
        if len(set(keys)) != len(keys):
            raise ValueError(f"a key comes twice in {line}")
        return dict(pairs)
    made = json.loads(line, object_pairs_hook=unique)
    if made.get("v") != 1 or "kind" not in made:
        raise ValueError(f"no version or kind in {line}")
    return made


def squeeze(text):
    return " ".join(text.split())


class Steps:
    def __init__(self, scene):
        self.scene = scene
        self.until, self.repeat = None, 1
        self.exit_checked = True
        self.target_end_checked = False

    # ---- doing ----

    def do_run(self, command):
        for cycle in range(self.repeat):
            self.scene.vars["CYCLE"] = cycle
            self.settle()
            self.scene.start_blip(command)
            self.bring_to_end(self.until or ("20 chunks" if self.scene.feeder else "done"))
            self.exit_checked = False
            if self.repeat > 1:
                self.settle()
                self.scene.check_state()
        self.until, self.repeat = None, 1

    def bring_to_end(self, until):
        scene = self.scene
        if scene.blip.code() is not None or not ARMED.search(scene.blip.err()):
            scene.end_blip()
        elif until == "end":
            if not scene.feeder:
                scene.go(wait=False)
            scene.end_blip()
        elif until == "alone":
            scene.end_blip()
        elif re.fullmatch(r"[\d.]+\s*m?s", until):
            time.sleep(seconds(until))
            scene.end_blip("INT")
        elif until.endswith("chunks"):
            goal = scene.feeder.fed + int(until.split()[0])
            poll("the program to work", scene.deadline, lambda: scene.feeder.fed >= goal or scene.feeder.failed)
            scene.end_blip("INT")
        else:
            scene.go()
            scene.end_blip("INT" if until == "done" else until)

    def do_until(self, what):
        self.until = what

    def do_repeat(self, times):
        self.repeat = int(times)

    def do_start(self, command):
        self.settle()
        self.scene.start_blip(command)
        if self.scene.blip.code() is not None:
            self.scene.end_blip()
            raise Failure(f"blip ended at once ({describe(self.scene.code)}): {self.scene.err.strip()}")

    def do_launch(self, command):
        self.settle()
        self.scene.start_blip(command, wait=False)

    def do_go(self, how):
        self.scene.go(wait=how != "nowait")

    def do_line(self, text):
        self.scene.target.send_line(text)

    def do_sleep(self, text):
        time.sleep(seconds(text))

    def do_signal(self, text):
        name, who = text.split()
        getattr(self.scene, who).signal(name)

    def do_helper(self, command):
        self.scene.start_helper(command)

    def do_sh(self, command):
        self.settle()
        self.scene.shell(command)
        self.exit_checked = False

    def do_end(self, signal_name):
        self.scene.end_blip(None if signal_name == "alone" else signal_name or "INT")
        self.exit_checked = False

    def do_wait(self, what):
        """`target` or `blip` ends; `armed`; `done`; `stopped`; `print TEXT`, `print-err TEXT`: blip has printed it; `say TEXT`: the target;
        `helper TEXT`: the helper; `ended helper`; `traced`: the target has a tracer."""
        scene, (word, _, text) = self.scene, what.partition(" ")
        text = scene.expand(text)
        conditions = {
            "target": lambda: scene.target.code() is not None,
            "blip": lambda: scene.blip.code() is not None,
            "armed": lambda: ARMED.search(scene.blip.err()),
            "done": lambda: "done" in scene.target.out().split(),
            "stopped": lambda: state.state_letter(scene.target.pid) == "T",
            "print": lambda: text in squeeze(scene.blip.out()),
            "print-err": lambda: text in squeeze(scene.blip.err()),
            "say": lambda: text in scene.target.out(),
            "helper": lambda: text in scene.helper.out() + scene.helper.err(),
            "ended": lambda: scene.helper.code() is not None,
            "traced": lambda: state.snapshot(scene.target.pid)["threads"][scene.target.pid]["TracerPid"] != "0",
        }
        poll(f"'{what}'", scene.deadline, conditions[word])
        if scene.target:
            scene.read_vars()

    # ---- expecting ----

    def settle(self):
        """The command before ended with 0 unless the case said otherwise."""
        if not self.exit_checked:
            self.exit_checked = True
            if self.scene.code != 0:
                raise Failure(f"the command {describe(self.scene.code)}, expected 0: {self.scene.out.strip()[-200:]}")

    def do_expect(self, text):
        self.contains(self.scene.out, text, "stdout")

    def do_expect_stderr(self, text):
        self.contains(self.scene.err, text, "stderr")

    def contains(self, output, text, where):
        """One line has the text, as whole words; blanks of any width count as one."""
        text = squeeze(self.scene.expand(text))
        words = re.compile(r"(?<!\w)" + re.escape(text) + r"(?!\w)" if text[-1].isalnum() else re.escape(text))
        if not any(words.search(squeeze(line)) for line in output.splitlines()):
            raise Failure(f"no line of {where} contains '{text}'")

    def do_expect_not(self, text):
        text = squeeze(self.scene.expand(text))
        if text in squeeze(self.scene.out) or text in squeeze(self.scene.err):
            raise Failure(f"the output contains '{text}'")

    def do_expect_match(self, pattern):
        if not re.search(self.scene.expand(pattern), self.scene.out, re.M):
            raise Failure(f"stdout does not match /{pattern}/")

    def do_expect_exit(self, code):
        self.exit_checked = True
        if str(self.scene.code) not in code.split():  # "0 1": one of them
            raise Failure(f"the command {describe(self.scene.code)}, expected exit {code}")

    def do_error(self, text):
        """Exit 1, nothing on stdout, one `blip: ` line on stderr that contains every part of `text` between commas.
        Lines that tell of progress do not count, nor those that show what the user wrote, indented."""
        self.one_line("1", text)

    def do_usage(self, text):
        """The same with exit 2: the user asked for something that makes no sense."""
        self.one_line("2", text)

    def do_underlines(self, text):
        """The error shows a line of what the user wrote, and underlines just this part of it."""
        shown = [line[2:] for line in self.scene.err.splitlines() if line.startswith("  ")]
        if len(shown) != 2 or not re.fullmatch(r" *\^~*", shown[1]):
            raise Failure("nothing is underlined")
        marked = shown[0][shown[1].index("^"):len(shown[1])]
        if marked != text:
            raise Failure(f"'{marked}' is underlined instead of '{text}'")

    def one_line(self, code, text):
        self.do_expect_exit(code)
        lines = [line for line in self.scene.err.strip().splitlines() if not line.startswith(("blip: still ", "  "))]
        if len(lines) != 1 or not lines[0].startswith("blip: "):
            raise Failure(f"expected one line 'blip: ...' on stderr, found {len(lines)} lines")
        if self.scene.out:
            raise Failure("an error, and still output on stdout")
        for part in self.scene.expand(text).split(","):
            if part.strip().lower() not in lines[0].lower():
                raise Failure(f"the error does not mention '{part.strip()}'")

    def do_reads(self, directory):
        """babeltrace2 and babeltrace 1.5 read the trace to the end and agree; as many events as blip said."""
        where = self.scene.directory / self.scene.expand(directory) if directory else self.scene.trace_dir
        events, _ = trace.check_readable(where)
        if self.scene.err.startswith("blip: ") and " events, " in self.scene.err and events != self.scene.summary()[0]:
            raise Failure(f"blip said {self.scene.summary()[0]} events, babeltrace2 reads {events}")

    def do_exact(self, name):
        """What the target says it called = recorded + discarded + skipped."""
        calls = self.scene.vars.get(name or "calls")
        events, discarded, skipped = self.scene.summary()
        if calls != events + discarded + skipped:
            raise Failure(f"the target called {calls} times; blip: {events} + {discarded} + {skipped} = "
                          f"{events + discarded + skipped}")
        if self.scene.trace_dir and self.scene.trace_dir.exists():
            read, lost = trace.check_readable(self.scene.trace_dir)
            if (read, lost) != (events, discarded):
                raise Failure(f"blip: {events} events, {discarded} discarded; the trace: {read} and {lost}")

    def do_coverage(self, floor):
        """At least FLOOR percent of the functions asked for were armed; printed, so that a change is seen."""
        armed = self.names().get("armed")
        if not armed:
            raise Failure("nothing was armed")
        total = armed.probes + armed.refused
        percent = 100 * armed.probes / total
        print(f"     {armed.probes} of {total} functions armed: {percent:.1f} %, floor {floor} %")
        if percent < float(floor):
            raise Failure(f"{percent:.1f} % of the functions were armed, expected at least {floor} %")

    def do_check(self, expression):
        """A Python expression over events(NAME), out, err, json_lines, summary, armed and what the target printed."""
        names = self.names()
        code = " ".join(expression.splitlines())
        try:
            if eval(code, names):  # the cases are ours
                return
        except (KeyError, AttributeError, IndexError, NameError, TypeError, ValueError) as error:
            raise Failure(f"does not hold: {expression}\n{type(error).__name__}: {error}") from None
        node = ast.parse(code, mode="eval").body
        sides = [node.left, *node.comparators] if isinstance(node, ast.Compare) else [node]
        values = [repr(eval(ast.unparse(side), names))[:300] for side in sides]
        raise Failure(f"does not hold: {expression}\n" + "\n".join(values))

    def names(self):
        scene, cache = self.scene, {}

        def events(name=None):
            if "all" not in cache:
                cache["all"] = trace.read_events(scene.trace_dir)
            return [e for e in cache["all"] if name is None or e.name == name]

        armed = ARMED.search(scene.err)
        names = dict(scene.vars)
        names.update(events=events, out=scene.out, err=scene.err, code=scene.code, re=re, trace_dir=scene.trace_dir,
                     state_letter=state.state_letter, untouched=state.untouched, target=scene.target, helper=scene.helper)
        names["json_lines"] = lambda: [strict_json(line) for line in scene.out.splitlines()]
        names["counted"] = lambda: {" ".join(w[:-1]): int(w[-1]) for w in map(str.split, scene.out.splitlines()) if w[-1:] and w[-1].isdigit()}
        names["table"] = lambda: dict((w[0], int(w[-1])) for w in map(str.split, scene.out.splitlines())
                                      if len(w) >= 2 and w[-1].isdigit())
        names["json_file"] = lambda path: [strict_json(line) for line in names["read_file"](path).splitlines()]
        names["holes"] = lambda: trace.read_holes(scene.trace_dir)
        names["count_events"] = lambda path: len(trace.read_events(scene.directory / path))
        names["read_file"] = lambda path: (scene.directory / path).read_text()
        if armed:
            names["armed"] = types.SimpleNamespace(probes=int(armed[1]), total_ms=float(armed[2]),
                                                   paused_ms=float(armed[3]), refused=int(armed[4] or 0))
        if " events, " in scene.err:
            names["summary"] = types.SimpleNamespace(**dict(zip(("events", "discarded", "skipped"), scene.summary())))
        return names

    def do_also(self, what):
        """`target exits N`, `target killed by SIGNAL`, `target is stopped`, `target runs`."""
        scene, word = self.scene, what.removeprefix("target ")
        letter = state.state_letter(scene.target.pid)
        if word in ("is stopped", "runs"):
            if (letter == "T") != (word == "is stopped") or not state.is_alive(scene.target.pid):
                raise Failure(f"expected: target {word}; its state is '{letter}'")
            return
        self.finish(word)

    def do_unharmed(self, _):
        self.scene.check_state()

    def finish(self, expected="exits 0"):
        """State equal, then the target ends as it should, with the output of an untraced run."""
        if self.target_end_checked or not self.scene.target:
            return
        self.target_end_checked = True
        scene = self.scene
        scene.check_state()
        if scene.feeder:
            goal = scene.feeder.fed + 2
            poll("the program to go on", scene.deadline, lambda: scene.feeder.fed >= goal or scene.feeder.failed)
            scene.feeder.stop()
        scene.target.close_stdin()
        end = describe(scene.target.wait(scene.deadline))
        if end != expected:
            raise Failure(f"target {end}, expected: {expected}")
        if expected == "exits 0":
            scene.tools.untraced.compare(scene)


KEYS = {name.removeprefix("do_").replace("_", "-"): name for name in dir(Steps) if name.startswith("do_")}
