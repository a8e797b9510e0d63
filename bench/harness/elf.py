# SPDX-License-Identifier: MIT
"""Functions of an ELF file: name -> offset in the file, which is where the kernel wants its uprobes."""
import struct

SHT_SYMTAB, SHT_DYNSYM = 2, 11
PT_LOAD, PF_X = 1, 1
STT_FUNC = 2
ET_DYN = 3
LOCK_PREFIX = 0xF0


class Elf:
    def __init__(self, path):
        with open(path, "rb") as f:
            self._bytes = f.read()
        self.pie = struct.unpack_from("<H", self._bytes, 16)[0] == ET_DYN
        self._loads = list(self._executable_segments())
        self.functions = {}  # name -> address in the file
        for table in self._sections():
            if table[1] in (SHT_SYMTAB, SHT_DYNSYM):
                self._add_functions(table)

    def offset(self, name):
        address = self.functions[name]
        for begin, size, offset in self._loads:
            if begin <= address < begin + size:
                return address - begin + offset
        raise KeyError(name)

    def starts_locked(self, name):
        """Whether the first instruction has a lock prefix: the kernel puts no uprobe there."""
        return self._bytes[self.offset(name)] == LOCK_PREFIX

    def site(self, pid, path, name):
        """Run-time address of a function in a process that maps this file."""
        offset = self.offset(name)
        with open(f"/proc/{pid}/maps", encoding="utf-8") as f:
            for line in f:
                words = line.split()
                if len(words) > 5 and words[5] == path and "x" in words[1]:
                    begin, stop = (int(w, 16) for w in words[0].split("-"))
                    if 0 <= offset - int(words[2], 16) < stop - begin:
                        return begin + offset - int(words[2], 16)
        raise KeyError(f"{name} is not mapped in {pid}")

    def _executable_segments(self):
        start, entry, count = struct.unpack_from("<Q", self._bytes, 32) + struct.unpack_from("<HH", self._bytes, 54)
        for i in range(count):
            kind, flags, offset, address, _, size = struct.unpack_from("<IIQQQQ", self._bytes, start + i * entry)
            if kind == PT_LOAD and flags & PF_X:
                yield address, size, offset

    def _sections(self):
        start = struct.unpack_from("<Q", self._bytes, 40)[0]
        entry, count = struct.unpack_from("<HH", self._bytes, 58)
        return [struct.unpack_from("<IIQQQQII", self._bytes, start + i * entry) for i in range(count)]

    def _add_functions(self, table):
        _, _, _, _, offset, size, link, _ = table
        strings = self._sections()[link][4]
        for at in range(offset, offset + size, 24):
            name, info, _, section, address, _ = struct.unpack_from("<IBBHQQ", self._bytes, at)
            if info & 15 == STT_FUNC and section and address:
                stop = self._bytes.index(b"\0", strings + name)
                self.functions[self._bytes[strings + name:stop].decode(errors="replace")] = address


def read_site(pid, address, size=5):
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        memory.seek(address)
        return memory.read(size)
