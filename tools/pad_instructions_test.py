#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pad_instructions.py finds calls in a path, and with --blip and --target, that six commands run code of blip's.

    tools/pad_instructions_test.py [--blip build/blip --target build/targets/loop_calls]
"""
import argparse
import sys
import unittest

from pad_instructions import COMMANDS, FIRST_CALLS, calls_of, measure, usual_call

options = None


def is_in_pads(address):
    return address >= 1000


class Paths(unittest.TestCase):
    def test_a_call_goes_from_entry_to_entry(self):
        path = [1000, 5, 1001, 1002, 7, 1003, 5, 1001, 9, 5, 1001]
        self.assertEqual(calls_of(path, 5, is_in_pads), [[1001, 1002, 1003], [1001]])

    def test_the_usual_call_is_the_most_frequent_one(self):
        calls = [[1]] * FIRST_CALLS + [[1, 2, 3], [1, 2], [1, 4], [1, 2]]
        self.assertEqual(usual_call(calls), (1, 2))


class Commands(unittest.TestCase):
    def test_every_command_runs_code_of_blip(self):
        if options.blip is None:
            self.skipTest("no --blip was given")
        counted = {name: measure(options.blip, options.target, words)[0] for name, words in COMMANDS.items()}
        self.assertLess(counted["count"], counted["entry"])
        self.assertEqual(counted["entry"] + 1, counted["entry + rdi"])
        self.assertLess(counted["entry"], counted["string"])
        self.assertLess(counted["entry"], counted["return"])
        self.assertGreater(counted["mid-function"], counted["count"])

    def test_the_path_of_a_hit_ends_outside_of_every_section(self):
        if options.blip is None:
            self.skipTest("no --blip was given")
        _, text = measure(options.blip, options.target, COMMANDS["entry"], True)
        self.assertEqual(sum("rdtsc" in line for line in text), 1)
        self.assertFalse(any("lock" in line for line in text), "an interrupted section went to the shared ring")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--blip")
    parser.add_argument("--target")
    options, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
