#!/usr/bin/env python3
"""faults.py PROGRAM [--long]: kills the program at system calls, and lets system calls fail, with strace's injection.

A killed run leaves the old output or the new one, never a part. A run whose system calls fail ends with a status of the
program. After both, the next run succeeds with the right output: no lock and no broken file is left.

The default is a sample. --long: every call that opens, writes, names or removes a file, and every error. Exit status 77
without strace.
"""

import dataclasses
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

# The calls that change files, and those that only open them or end their use.
CHANGING = "write pwrite64 fsync fchmod fchown ftruncate linkat unlinkat unlink renameat renameat2 rename mkdir flock".split()
OTHERS = "openat close pread64 read newfstatat lseek fcntl".split()
ERRORS = {
    "write": ["ENOSPC", "EIO", "EINTR"],
    "pwrite64": ["ENOSPC", "EIO", "EINTR"],
    "fsync": ["EIO", "ENOSPC"],
    "linkat": ["EIO", "EPERM"],
    "renameat": ["EIO", "EACCES"],
    "openat": ["EMFILE", "EACCES", "EIO"],
    "pread64": ["EIO", "EINTR"],
    "flock": ["ENOLCK"],
    "mkdir": ["EACCES"],
    "fchmod": ["EPERM"],
    "lseek": ["EIO"],
}
TEMPORARY = ".concord-"
HANGS = 1000
REPORT = b"\n}\n"  # its end; a report of failures is longer


@dataclasses.dataclass
class Scenario:
    """A command, its output file, and whether the output is a file that exists before."""

    name: str
    command: list
    out: str
    old: bytes = None
    # Whether the file has a temporary name while it is written. Then a part of it may be left if the program is killed.
    named: bool = False
    # Whether the file system cannot create files without a name.
    no_unnamed: bool = False
    # What is in every complete output. None: two runs write the same bytes.
    end: bytes = None


def npy(count):
    """The bytes of an array of f32."""
    text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({count},), }}".encode()
    text += b" " * (-(10 + len(text) + 1) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + struct.pack(f"<{count}f", *range(count))


def scenarios(program):
    tbb = ["--device", "tbb"]
    square = ["run", "map", "--function", "square", "--in", "x.npy", "--out", "out/y.npy"]
    found = [
        Scenario("run", [*square, *tbb], "out/y.npy"),
        Scenario("replace", [*square, *tbb], "out/y.npy", old=b"old"),
        Scenario("segments", [*square, *tbb, "--chunk", "4K"], "out/y.npy", old=b"old"),
        Scenario("named", [*square, *tbb, "--chunk", "4K"], "out/y.npy", old=b"old", named=True, no_unnamed=True),
        Scenario(
            "ranks",
            "run stencil --in cube.npy --in c.npy --out out/y.npy --devices tbb,tbb".split(),
            "out/y.npy",
            old=b"old",
            named=True,
        ),
        Scenario("check", "check map --devices tbb --types f32 --sizes 10 --json out/c.json".split(), "out/c.json", end=REPORT),
        Scenario("study", "study --from c.json --out out".split(), "out/report.html", end=b"</html>\n"),
        Scenario(
            "tune",
            "tune map --device tbb --types u32 --sizes 2^8 --budget 1 --quick --out out/t.txt".split(),
            "out/t.txt",
            end=b"\n",
        ),
    ]
    cache = "check add --devices cuda@sm_90 --variants naive --types f32 --sizes 5 --json out/c.json".split()
    if subprocess.run([program, *cache[:-2]], capture_output=True, check=False).returncode == 0:
        found.append(Scenario("cache", cache, "out/c.json", end=REPORT))
    return found


class Faults:
    """Runs one scenario with faults."""

    def __init__(self, program, scenario, folder):
        self.program = program
        self.scenario = scenario
        self.folder = folder
        self.survivors = []
        self.runs = 0
        self.expected = None
        self.always = []  # options for strace

    def fresh(self, name):
        """A folder with the inputs of all scenarios."""
        folder = self.folder / name
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "out").mkdir(parents=True)
        (folder / "x.npy").write_bytes(npy(5000))
        cube = npy(512).replace(b"(512,), }      ", b"(8, 8, 8), }   ")
        (folder / "cube.npy").write_bytes(cube)
        (folder / "c.npy").write_bytes(npy(2))
        (folder / "c.json").write_text(
            '{"schema": 1, "version": "1", "date": "", "devices": [], "results": [],'
            ' "machine": {"cpu": "a", "cores": 1, "os": "b"}}'
        )
        if self.scenario.old is not None:
            (folder / self.scenario.out).write_bytes(self.scenario.old)
        return folder

    def run(self, folder, *before):
        # No OpenCL: PoCL makes thousands of system calls, and keeps files of its own.
        env = {
            **os.environ,
            "OCL_ICD_VENDORS": "/no/such/folder",
            "XDG_CACHE_HOME": str(folder / "cache"),
            "CONCORD_TUNING": "off",
            "CONCORD_THREADS": "1",
        }
        command = [*before, self.program, *self.scenario.command]
        with subprocess.Popen(
            command,
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as process:
            try:
                out, err = process.communicate(timeout=120)
                return subprocess.CompletedProcess(command, process.returncode, out, err)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)  # strace and the program
                return subprocess.CompletedProcess(command, HANGS, b"", b"hangs")

    def is_whole(self, data):
        if self.scenario.end is None:
            return data == self.expected
        return data.endswith(self.scenario.end) and data.count(b"\n") >= self.expected.count(b"\n") // 2

    def trace(self):
        """Runs without a further fault. Returns how often a thread makes each call, at most, and which openat creates
        a file without a name."""
        folder = self.fresh("whole")
        traced = ",".join(CHANGING + OTHERS)
        done = self.run(folder, "strace", "-f", "-qq", "-o", "trace", "-e", f"trace={traced}", *self.always)
        assert done.returncode == 0, done
        self.expected = (folder / self.scenario.out).read_bytes()
        counts = {}
        unnamed = None
        for line in (folder / "trace").read_text(errors="replace").splitlines():
            found = re.match(r"(\d+) +(\w+)\(", line)
            if found:
                threads = counts.setdefault(found[2], {})
                threads[found[1]] = threads.get(found[1], 0) + 1
                if "O_TMPFILE" in line:
                    unnamed = threads[found[1]]
        return {call: max(threads.values()) for call, threads in counts.items()}, unnamed

    def count(self):
        """As trace(), for the scenario's file system."""
        counts, unnamed = self.trace()
        if self.scenario.no_unnamed and unnamed is not None:
            self.always = ["-e", f"inject=openat:error=EOPNOTSUPP:when={unnamed}"]
            counts, _ = self.trace()
        return counts

    def inject(self, call, number, fault):
        """One run with a fault, and the next one."""
        name = f"{call}-{number}-{fault}"
        folder = self.fresh(name)
        # Of two injections into one call the last one counts.
        faults = [*self.always, "-e", f"inject={call}:{fault}:when={number}"]
        done = self.run(folder, "strace", "-f", "-qq", "-o", "/dev/null", *faults)
        problem = self.problem(folder, done, fault)
        if problem is None:
            again = self.run(folder)
            if again.returncode != 0:
                problem = f"the next run: status {again.returncode}: {again.stderr.decode(errors='replace')[:300]}"
            elif not self.is_whole((folder / self.scenario.out).read_bytes()):
                problem = "the next run writes another output"
        if problem is None:
            shutil.rmtree(folder)
        return f"{self.scenario.name}: {name}: {problem}" if problem else None

    def problem(self, folder, done, fault):
        kills = fault.startswith("signal")
        if done.returncode == HANGS:
            return "hangs"
        said = done.stderr.decode(errors="replace")[:300]
        # 127: the dynamic loader found no library.
        if not kills and done.returncode not in (0, 1, 2, 3, 4, 127):
            return f"status {done.returncode}: {said}"
        out = folder / self.scenario.out
        there = out.read_bytes() if out.exists() else None
        if there is not None and there != self.scenario.old and not self.is_whole(there):
            return f"a part of the output is left, of {len(there)} bytes; status {done.returncode}: {said}"
        if done.returncode == 0 and (there is None or not self.is_whole(there)):
            return f"status 0 without the output: {said}"
        for file in folder.rglob(TEMPORARY + "*"):
            # A file that replaces another one has a temporary name for a moment, when it is complete.
            if fault != "signal=KILL":
                return f"{file} is left: {said}"
            if not self.scenario.named and self.scenario.end is None and not self.is_whole(file.read_bytes()):
                return f"a part of the output is left as {file}: {said}"
        return None

    def all(self, every):
        """Injects faults. every: all of them, or a sample."""
        counts = self.count()
        plan = []
        for call, count in sorted(counts.items()):
            errors = ["signal=KILL", "signal=TERM", *(f"error={error}" for error in ERRORS.get(call, []))]
            if every:
                plan += [(call, number, error) for number in range(1, count + 1) for error in errors]
            elif call in CHANGING:
                plan += [(call, number, error) for number in {1, count} for error in errors[:3]]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(lambda what: self.inject(*what), plan))
        self.runs = len(plan)
        self.survivors = [result for result in results if result]


def main():
    program = os.path.abspath(sys.argv[1])
    every = sys.argv[2:] == ["--long"]
    if shutil.which("strace") is None or subprocess.run(["strace", "-qq", "true"], capture_output=True, check=False).returncode:
        print("skipped: strace is not available, or may not trace")
        sys.exit(77)
    problems = []
    with tempfile.TemporaryDirectory(prefix="concord-faults-") as folder:
        for scenario in scenarios(program):
            faults = Faults(program, scenario, pathlib.Path(folder) / scenario.name)
            faults.all(every)
            print(f"{scenario.name}: {faults.runs} faults, {len(faults.survivors)} problems", flush=True)
            problems += faults.survivors
    print("\n".join(problems))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
