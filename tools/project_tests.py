# SPDX-License-Identifier: MIT
"""What tests this project has, for the checks that say that something is shown by one."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent


def code_files():
    return [p for p in (ROOT / "src").rglob("*.[ch]*") if p.suffix in (".cc", ".h")]


def is_test(path):
    return path.stem.endswith("_test") or path.name.startswith("test_")


def case_files():
    return sorted((ROOT / "tests/run").glob("*.t"))


def cases():
    """{'load.t: title'} of all end-to-end cases."""
    return {f"{path.name}: {title.strip()}" for path in case_files()
            for title in re.findall(r"^case:(.*)$", path.read_text(), re.M)}


def unit_tests():
    """{'proc_test: Suite.name'} of all gtest cases: the tests of an area (a folder of src with its rooms) are one program."""
    return {f"{path.relative_to(ROOT / 'src').parts[0]}_test: {suite}.{name}" for path in code_files() if path.name.endswith("_test.cc")
            for suite, name in re.findall(r"^TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", path.read_text(), re.M)}


def fuzzers():
    return {f"make fuzz: {path.stem.removesuffix('_fuzz')}" for path in code_files() if path.name.endswith("_fuzz.cc")}


def scenarios():
    """Of make torture, make soak and make suites, from the tables of their names."""
    def table(path, pattern, name):
        file = ROOT / "tests" / path
        found = re.search(pattern, file.read_text(), re.M | re.S) if file.exists() else None
        return re.findall(name, found[1]) if found else []
    torture = table("torture/scenarios.py", r"^ALL = \{(.*?)\}", r'"([\w-]+)":')
    soak = table("torture/servers.py", r"^ALL = \((.*?)\)", r"\w+")
    suites = table("suites.py", r"^SUITES = \{(.*?)\}", r'"([\w-]+)":')
    return ({f"make torture: {name}" for name in torture} | {f"make soak: {name.lower()}" for name in soak}
            | {f"make suites: {name}" for name in suites})


def other_tests():
    """Of ctest, by the name CMake gives them."""
    text = "\n".join(p.read_text() for p in (ROOT / "tests").rglob("CMakeLists.txt"))
    return {f"ctest: {name}" for name in re.findall(r"add_test\(NAME (\S+)", text)}


def every_test():
    return cases() | unit_tests() | fuzzers() | scenarios() | other_tests()
