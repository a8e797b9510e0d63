# SPDX-License-Identifier: MIT
"""What the numbers were measured on."""
import datetime
import os
import platform
import re


def _read(path):
    try:
        with open(path, encoding="utf-8") as f:
            return f.read()
    except OSError:
        return ""


def facts():
    cpuinfo = _read("/proc/cpuinfo")
    memory = re.search(r"MemTotal:\s+(\d+)", _read("/proc/meminfo"))

    def field(name):
        found = re.search(rf"^{name}\s*: (.*)$", cpuinfo, re.M)
        return found[1] if found else "unknown"

    distribution = re.search(r'PRETTY_NAME="(.*)"', _read("/etc/os-release"))
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "cpu": f"{field('model name')} (family {field('cpu family')}, model {field('model')})",
        "cpus": os.cpu_count(),
        "virtual": "hypervisor" in field("flags").split(),
        "memory_mb": int(memory[1]) // 1024 if memory else None,
        "kernel": platform.release(),
        "glibc": os.confstr("CS_GNU_LIBC_VERSION"),
        "system": distribution[1] if distribution else "unknown",
        "user": "root" if os.geteuid() == 0 else "ordinary",
        "load_before": os.getloadavg()[0],
    }
