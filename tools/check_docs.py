#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every link of the documents leads somewhere, every message in docs/troubleshooting.md is one that blip prints, and
documents name only sources that exist, and docs/ARCHITECTURE.md names every room."""
import pathlib
import re
import subprocess
import sys

from check_layers import rooms
from project_tests import ROOT, code_files, is_test

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.S)


def documents():
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "*.md"], capture_output=True, text=True, check=True).stdout.split()
    return [ROOT / name for name in listed]


def anchor_of(heading):
    """What GitHub and GitLab call a heading in links."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", text).strip().replace(" ", "-")


def anchors_of(text):
    return {anchor_of(heading) for heading in re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", text, flags=re.S), re.M)}


def broken_links(path, text):
    for link in LINK.findall(CODE.sub("", text)):
        if re.match(r"\w+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        if not target.exists():
            yield f"no file for the link {link}"
        elif anchor and target.suffix == ".md" and anchor not in anchors_of(target.read_text()):
            yield f"no heading for the link {link}"


def source_text():
    """All of src, with string literals that go on in the next line put together."""
    text = "\n".join(p.read_text(errors="replace") for p in code_files() if not is_test(p))
    return re.sub(r'"\s*\n\s*"', "", text)


def unknown_messages(text, source):
    """The first cells of the tables; N and ... stand for any text."""
    for cell in re.findall(r"^\| (.*?) \|", text, re.M):
        for message in re.findall(r"`([^`]+)`", cell):
            parts = [p.strip() for p in re.split(r"\bN\b|\.\.\.|^blip: ", message)]
            if not all(part in source for part in parts):
                yield f"no such message in the source: {message}"


def missing_sources(text):
    """Names like src/ring/reader.h, or ring/reader.h, of files that do not exist."""
    for name in sorted(set(re.findall(r"\b((?:[a-z_0-9]+/)+[a-z_0-9]+\.(?:h|cc|S))\b", text))):
        area = (name if name.startswith("src/") else f"src/{name}").split("/")[1]
        if (ROOT / "src" / area).is_dir() and not any((ROOT / at / name).exists() for at in ("", "src")):
            yield f"there is no {name}"


def architecture_problems(text):
    """Each room of CMakeLists.txt has a row in the table of rooms."""
    table = text[text.index("| room |"):].split("\n\n")[0]
    named = {room for row in re.findall(r"^\| (.*?) \|", table, re.M) for room in re.findall(r"`([^`]+)`", row)}
    yield from (f"the table of rooms has no {room}" for room in sorted(set(rooms()) - named))
    yield from (f"there is no room {room}" for room in sorted(named - set(rooms())))


def main():
    source, problems, links = source_text(), [], 0
    for path in documents():
        text, name = path.read_text(), path.relative_to(ROOT)
        links += len(LINK.findall(CODE.sub("", text)))
        problems += [f"{name}: {problem}" for problem in broken_links(path, text)]
        problems += [f"{name}: {problem}" for problem in missing_sources(text)]
        if name == pathlib.Path("docs/troubleshooting.md"):
            problems += [f"{name}: {problem}" for problem in unknown_messages(text, source)]
        if name == pathlib.Path("docs/ARCHITECTURE.md"):
            problems += [f"{name}: {problem}" for problem in architecture_problems(text)]
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{links} links, {len(problems)} problems")
    return 1 if problems or not links else 0


if __name__ == "__main__":
    sys.exit(main())
