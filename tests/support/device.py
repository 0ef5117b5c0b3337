"""A disk that keeps what was flushed, and of the rest as much or as little as a power cut may leave.

The server's files lie in a live directory, which `journal.c`, preloaded into the server, follows. `Device.cut` makes
of the journal what the disk holds when the power goes: the flushed bytes of every file, and the names that were
flushed with their directory; of anything else an arbitrary part.
"""

import os
import random
import shutil
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

# What the operating system writes at a time, and what a disk writes whole or not at all.
PAGE, SECTOR = 4096, 512

# Files of which the engine cannot read a torn end, only a short one. Most file systems let a file grow only by what is
# on the disk, which makes a torn end of such short records a short one.
GROWS = "db/MANIFEST-"

# By this file a server knows its directory again: as no copy has it, it stays, for the disk is the same.
STAYS = "LOCK"
# What a server writes down of its run, with the boot of the machine as its second word.
RUN = "RUN"

CREATE, WRITE, RESIZE, FLUSH_BEGIN, FLUSH_END, RENAME, REMOVE, MKDIR, LINK = range(1, 10)
RECORD = struct.Struct("=IIQQQ")


class Write(NamedTuple):
    """Bytes that were written to a place of a file, or, without bytes, its new size."""

    number: int  # of its record in the journal
    at: int
    data: bytes | None


class File:
    """A file: its flushed bytes, and what was written since."""

    def __init__(self, source: Path | None = None):
        self.source = source  # where the flushed bytes are, until something is written
        self.size = source.stat().st_size if source else 0  # as the process sees it
        self.flushed = bytearray()
        self.waiting: list[Write] = []

    def take(self, write: Write) -> None:
        if self.source is not None:
            self.flushed, self.source = bytearray(self.source.read_bytes()), None
        self.waiting.append(write)
        self.size = write.at if write.data is None else max(self.size, write.at + len(write.data))

    def flush(self, before: int) -> None:
        """All that was written before a place in the journal stays from now on."""
        for write in self.waiting:
            if write.number < before:
                put(self.flushed, write)
        self.waiting = [write for write in self.waiting if write.number >= before]

    def all(self) -> bytearray:
        """As the process sees it."""
        if self.source is not None:
            return bytearray(self.source.read_bytes())
        content = self.flushed[:]
        for write in self.waiting:
            put(content, write)
        return content

    def left(self, rng: random.Random, torn: bool) -> bytearray:
        """What of it a power cut leaves: some front part of what was written or, if it may be `torn`, any part."""
        if self.source is not None or not self.waiting:
            return self.all()
        scatters = ("scattered", "scattered", "scattered") if torn else ()
        how = rng.choice(("nothing", "all", "front", "front", *scatters))
        if how == "nothing":
            return self.flushed[:]
        if how == "all":
            return self.all()
        # Sizes change in their order, so those up to some place have come through.
        sizes = [place for place, write in enumerate(self.waiting) if write.data is None]
        begin = rng.choice([0, *(place + 1 for place in sizes)])
        base = self.flushed[:]
        for write in self.waiting[:begin]:
            put(base, write)
        end = next((place for place in sizes if place >= begin), len(self.waiting))
        writes = self.waiting[begin:end]
        whole = base[:]
        for write in writes:
            put(whole, write)
        if how == "front":
            return whole[: rng.randint(min(len(base), len(whole)), len(whole))]
        return scattered(base, writes, whole, rng)


def put(content: bytearray, write: Write) -> None:
    """Carries a write out."""
    if write.data is None:
        del content[write.at :]
        content.extend(bytes(write.at - len(content)))
        return
    if write.at > len(content):
        content.extend(bytes(write.at - len(content)))
    content[write.at : write.at + len(write.data)] = write.data


def scattered(base: bytearray, writes: list[Write], whole: bytearray, rng: random.Random) -> bytearray:
    """Some of the pages, some of them torn, of each page what it held at some time; zeros in between, or what was on
    the disk before. Sectors with flushed bytes are written over by such as have them too."""
    touched: dict[int, list[Write]] = {}
    for write in writes:
        for page in range(write.at // PAGE, (write.at + len(write.data or b"") - 1) // PAGE + 1):
            touched.setdefault(page, []).append(write)
    chance, torn, noise = rng.random(), rng.choice((0.0, 0.1, 0.5)), rng.random() < 0.15
    size = rng.randint(min(len(base), len(whole)), len(whole)) if rng.random() < 0.5 else len(whole)
    content = base[:]
    content.extend(bytes(max(0, size - len(content))))
    for page, versions in touched.items():
        begin = page * PAGE
        old = (base[begin : begin + PAGE] + bytes(PAGE))[:PAGE]
        if noise and begin + PAGE > len(base):
            clean = -(-max(0, len(base) - begin) // SECTOR) * SECTOR
            old[clean:] = rng.randbytes(PAGE - clean)

        def version(count: int) -> bytearray:
            if count == 0:
                return old
            held = (base[begin : begin + PAGE] + bytes(PAGE))[:PAGE]
            for write in versions[:count]:
                data, at = write.data or b"", write.at - begin
                part = data[max(0, -at) : PAGE - at]
                held[max(0, at) : max(0, at) + len(part)] = part
            return held

        def some() -> int:
            return rng.choice((len(versions), rng.randint(1, len(versions)))) if rng.random() < chance else 0

        if rng.random() < torn:
            sectors = (version(some())[at : at + SECTOR] for at in range(0, PAGE, SECTOR))
            result = b"".join(sectors)
        else:
            result = bytes(version(some()))
        if begin < len(content):
            content[begin : begin + PAGE] = result[: len(content) - begin]
    return content


class Renaming(NamedTuple):
    """A change of names, which happens whole or not at all."""

    number: int
    names: list[tuple[str, "File | str | None"]]  # a path and what it names from now on: a file, "directory", nothing

    def touches(self, folder: str) -> bool:
        return any(os.path.dirname(path) == folder for path, _ in self.names)


class Device:
    """What lies below one directory, on a disk and in memory."""

    def __init__(self, live: Path, held: Path, journal: Path, liar: str | None = None):
        """`held` gets what the disk holds after a cut. `liar`: flushes of files with names that end so do nothing."""
        self.live = live
        self.held = held
        self.journal = journal
        self.liar = liar
        self.flushes = 0

    def environment(self, library: Path, longest_flush: float) -> dict[str, str]:
        """For the process to be followed; the longest time of a flush in seconds."""
        return {
            "LD_PRELOAD": str(library), "JOURNAL_ROOT": str(self.live), "JOURNAL_FILE": str(self.journal),
            "JOURNAL_FLUSH_US": str(round(longest_flush * 1e6)),
        }

    def mount(self) -> None:
        """Puts what the disk holds into the live directory, and begins a journal."""
        aside = self.live.with_name(self.live.name + "." + STAYS)
        if (self.live / STAYS).exists():
            (self.live / STAYS).rename(aside)
        shutil.rmtree(self.live, ignore_errors=True)
        shutil.copytree(self.held, self.live)
        if aside.exists() and (self.live / STAYS).exists():
            aside.rename(self.live / STAYS)
        self.begin()

    def begin(self) -> None:
        """All that is in the live directory counts as flushed from now on; a disk that holds the same is there."""
        if not self.held.exists():
            shutil.copytree(self.live, self.held)
        self.journal.write_bytes(b"")
        self.names: dict[str, File | str] = {}
        self.inodes: dict[int, File] = {}
        self.folders: dict[int, str] = {self.live.stat().st_ino: ""}
        for path in self.live.rglob("*"):
            name, inode = str(path.relative_to(self.live)), path.stat().st_ino
            if path.is_dir():
                self.names[name] = "directory"
                self.folders[inode] = name
            else:
                self.names[name] = self.inodes[inode] = File(self.held / name)
        self.seen: dict[str, File | str] | None = None
        self.renamings: list[Renaming] = []
        self.waiting: list[Renaming] = []  # those of them that are not flushed

    def is_followed(self) -> bool:
        """Whether the library is at work; a process that is linked statically does not load it."""
        return self.journal.stat().st_size > 0

    def records(self) -> Iterator[tuple[int, int, int, int, str, bytes]]:
        """Of the journal, as far as it is whole: number, kind, inode, number or place, path, rest."""
        journal = memoryview(self.journal.read_bytes())
        place = number = 0
        while place + RECORD.size <= len(journal):
            kind, path_length, inode, value, rest_length = RECORD.unpack_from(journal, place)
            rest = place + RECORD.size + path_length
            if rest + rest_length > len(journal):
                break
            path = bytes(journal[place + RECORD.size : rest]).decode()
            place = rest + rest_length
            number += 1
            yield number, kind, inode, value, clean(path), bytes(journal[rest:place])

    def read(self) -> dict[str, "File | str"]:
        """Takes the journal in, once; the names as the process saw them last."""
        if self.seen is not None:
            return self.seen
        seen = self.seen = dict(self.names)
        begun: dict[int, int] = {}
        for number, kind, inode, value, path, rest in self.records():
            change: list[tuple[str, File | str | None]] = []
            if kind == CREATE:
                self.inodes[inode] = File()
                change = [(path, self.inodes[inode])]
            elif kind == MKDIR:
                self.folders[inode] = path
                change = [(path, "directory")]
            elif kind == REMOVE:
                change = [(path, None)]
            elif kind in (RENAME, LINK):
                other = clean(rest.decode())
                if seen[path] == "directory":
                    raise NotImplementedError(f"a directory was renamed: {path}")
                change = [(other, seen[path])]
                if kind == RENAME:
                    change.append((path, None))
            elif kind == WRITE:
                self.inodes[inode].take(Write(number, value, rest))
            elif kind == RESIZE:
                # Room that is taken ahead, or given back, changes no size.
                if self.inodes[inode].size != value:
                    self.inodes[inode].take(Write(number, value, None))
            elif kind == FLUSH_BEGIN:
                begun[value] = number
            elif kind == FLUSH_END:
                self.flush(inode, begun[value], seen)
            if change:
                self.renamings.append(Renaming(number, change))
                self.waiting.append(self.renamings[-1])
                apply(seen, change)
        return seen

    def flush(self, inode: int, before: int, seen: dict[str, "File | str"]) -> None:
        self.flushes += 1
        folder = self.folders.get(inode)
        if folder is not None:
            self.waiting = [each for each in self.waiting if each.number >= before or not each.touches(folder)]
            return
        file = self.inodes[inode]
        if self.liar is None or not any(each is file and name.endswith(self.liar) for name, each in seen.items()):
            file.flush(before)

    def cut(self, rng: random.Random) -> str:
        """The power goes: `held` is what the disk then holds. The process must be gone. Says how it went."""
        self.read()
        names = dict(self.names)
        strict = rng.random() < 0.25
        # Most file systems carry changes of names out in their order; some do not, where they were not flushed.
        ordered = rng.random() < 0.5
        waiting = {each.number for each in self.waiting}
        last = max((place for place, each in enumerate(self.renamings) if each.number not in waiting), default=-1)
        upto = last if strict else rng.randint(last, len(self.renamings) - 1)
        chance = 0.0 if strict else rng.random()
        kept = 0
        for place, each in enumerate(self.renamings):
            stays = place <= upto if ordered else each.number not in waiting or rng.random() < chance
            if stays:
                apply(names, each.names)
                kept += 1
        new = self.held.with_name(self.held.name + ".new")
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir()
        unflushed = sum(len(write.data or b"") for file in names.values() if isinstance(file, File) for write in file.waiting)
        for name, file in sorted(names.items()):
            path = new / name
            if not path.parent.is_dir():
                continue  # its directory is gone
            if isinstance(file, str):
                path.mkdir()
            elif file.source is not None:
                os.link(file.source, path)
            else:
                path.write_bytes(file.flushed if strict else file.left(rng, not name.startswith(GROWS)))
        shutil.rmtree(self.held)
        new.rename(self.held)
        self.boot(rng)
        return (
            f"{len(self.renamings) - kept} of {len(self.renamings)} names {'in order' if ordered else 'in any order'} and "
            f"{'all' if strict else 'a part'} of {unflushed:,} bytes not flushed lost"
        )

    def boot(self, rng: random.Random) -> None:
        """The machine starts anew: what was running ran in another boot than this one."""
        run = self.held / RUN
        if run.exists() and len(words := run.read_text().split(" ")) == 4:
            words[1] = f"{rng.getrandbits(64):x}"
            run.write_text(" ".join(words))

    def differs(self) -> str | None:
        """Whether the journal lacks something: all of it must give the live directory. The process must have ended in order."""
        seen = self.read()
        there = {str(path.relative_to(self.live)): path for path in self.live.rglob("*")}
        if seen.keys() != there.keys():
            return f"the journal has {sorted(seen.keys() ^ there.keys())} otherwise"
        for name, file in seen.items():
            # The room for a start is set aside without the C library, and means nothing.
            if name != "RESERVE" and isinstance(file, File) and file.all() != there[name].read_bytes():
                return f"the journal has {name} otherwise"
        return None


def apply(names: dict[str, "File | str"], change: list[tuple[str, "File | str | None"]]) -> None:
    """Carries a change of names out."""
    for path, what in change:
        if what is None:
            names.pop(path, None)
        else:
            names[path] = what


def clean(path: str) -> str:
    """A path below the directory without needless slashes."""
    return os.path.normpath(path).strip("/") if path else ""
