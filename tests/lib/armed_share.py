#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""armed_share.py FLOOR FILE: fails unless blip's stderr in FILE says that at least FLOOR percent of the probes were armed."""
import re
import sys

armed, refused = re.search(r"^blip: armed (\d+) probes.*?(?:, (\d+) refused|$)", open(sys.argv[2]).read(), re.M).groups("0")
share = 100 * int(armed) / (int(armed) + int(refused))
print(f"{armed} armed, {refused} refused: {share:.3f} %")
sys.exit(share < float(sys.argv[1]))
