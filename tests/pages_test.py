#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of pages.py: pages that tell the truth pass, and pages that lie fail."""
import contextlib
import io
import pathlib
import tempfile
import unittest

import pages

TRUTH = """
<!-- vary: time duration n= HITS -->
```console
$ printf 'NAME  HITS\\nf       10\\ng        2\\n'
NAME  HITS
f       17
g        3
$ echo 'blip: armed 2 probes in 20.1 ms'; echo '[10:00:00.123456789] (+0.000000001) f: { n = 5, m = 6 }'
blip: armed 2 probes in 3.7 ms
[11:22:33.000000001] (+0.000000777) f: { n = 4, m = 6 }
$ seq 5
1
...
5
```
<!-- holds: count("[0-9]") == 5 -->
"""


class Pages(unittest.TestCase):
    def failure(self, text):
        """The message with which a page fails; None if it passes."""
        with tempfile.TemporaryDirectory() as directory, contextlib.redirect_stdout(io.StringIO()):
            path = pathlib.Path(directory) / "page.md"
            path.write_text(text)
            try:
                pages.run_page(path, pathlib.Path("/bin/true"), show=False)
            except pages.Failure as failure:
                return str(failure)
        return None

    def lie(self, before, after):
        self.assertEqual(TRUTH.count(before), 1)
        self.assertIn("another output", self.failure(TRUTH.replace(before, after)) or "")

    def test_the_truth_passes(self):
        self.assertIsNone(self.failure(TRUTH))

    def test_a_text_that_differs_may_hold_blanks(self):
        page = '<!-- vary: s= -->\n```console\n$ echo \'f: { s = "one, two", m = 6 }\'\nf: { s = "a third text", m = 6 }\n```\n'
        self.assertIsNone(self.failure(page))
        self.assertIn("another output", self.failure(page.replace("text\", m = 6", "text\", m = 7")) or "")

    def test_a_number_that_is_not_marked(self):
        self.lie("m = 6 }\n$", "m = 7 }\n$")
        self.lie("armed 2 probes in 3.7", "armed 3 probes in 3.7")

    def test_a_name(self):
        self.lie("g        3", "h        3")

    def test_a_line_too_many_and_a_line_too_few(self):
        self.lie("f       17\n", "")
        self.lie("1\n...\n5", "1\n...\n5\n6")

    def test_an_order(self):
        self.lie("f       17\ng        3", "g        3\nf       17")

    def test_a_field_more(self):
        self.lie("{ n = 4, m = 6 }", "{ n = 4, m = 6, o = 7 }")

    def test_a_claim_that_does_not_hold(self):
        self.assertIn("does not hold", self.failure(TRUTH.replace("== 5", "== 6")))

    def test_another_exit_status(self):
        self.assertIn("exits with 3", self.failure("```console\n$ (exit 3)\n```\n"))
        self.assertIsNone(self.failure("<!-- exits: 3 -->\n```console\n$ (exit 3)\n```\n"))

    def test_output_that_the_page_does_not_show(self):
        self.assertIn("another output", self.failure("```console\n$ echo more\n```\n"))

    def test_a_one_liner_without_events(self):
        page = "<!-- hits -->\n```console\n$ echo 'blip: {} events, 0 discarded, 0 skipped'\n```\n"
        self.assertIsNone(self.failure(page.format(3)))
        self.assertIn("nothing was seen", self.failure(page.format(0)))

    def test_a_page_without_commands(self):
        self.assertIn("no command", self.failure("words\n"))

    def test_a_comparison_that_lets_a_lie_pass(self):
        command = pages.Command("seq 2", 1, shown="1\n2\n", vary=())
        original, pages.matches = pages.matches, lambda expected, actual: True
        try:
            with self.assertRaises(pages.Failure):
                pages.find_lies(command, "1\n2\n")
        finally:
            pages.matches = original


if __name__ == "__main__":
    unittest.main()
