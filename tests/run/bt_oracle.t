# SPDX-License-Identifier: MIT
# What scripts print, beside Debian's bpftrace.
as: root
needs: root bpftrace
timeout: 240

case: scripts without a target print the same
until: alone
sh: $LIB/bt_same.py
