#!/usr/bin/env python3
"""faults.py PROGRAM [--long]: kills the program at system calls, and lets system calls fail, with strace's injection.

A killed run leaves the old output or the new one, never a part. A run whose system calls fail ends with a status of the
program. After both, the next run succeeds with the right output: no lock and no broken file is left.

The default is a sample, and the next run follows kills only. --long: every call that opens, writes, names or removes a
file, and every error. Exit status 77 without strace.

faults.py PROGRAM --mpiexec MPIEXEC [--long]: kills one of two ranks instead. The job ends with an error, and the other
rank removes the temporary file. --long: a larger sample.
"""

import argparse
import collections
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
import time
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
RANK_CALLS = 16  # from the creation of the output file until a rank has completed it
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
    # An output that appears together with `out`.
    second: str = None
    # What is in every complete output. None: two runs write the same bytes.
    end: bytes = None
    # The rank to which faults apply, of two ranks. None: one process.
    rank: int = None


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
        Scenario(
            "two",
            ["run", "sort", "--in", "x.npy", "--values", "x.npy", "--out", "out/y.npy", "--out-values", "out/z.npy", *tbb],
            "out/y.npy",
            old=b"old",
            second="out/z.npy",
        ),
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


def rank_scenarios():
    sort = "run sort --descending --in x.npy --out out/y.npy --device tbb".split()
    return [Scenario(f"rank {rank}", sort, "out/y.npy", old=b"old", rank=rank) for rank in (0, 1)]


class Faults:
    """Runs one scenario with faults."""

    def __init__(self, program, mpiexec, scenario, folder):
        self.program = program
        self.mpiexec = mpiexec
        self.scenario = scenario
        self.folder = folder
        self.survivors = []
        self.runs = self.arrived = 0
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
            for name in filter(None, (self.scenario.out, self.scenario.second)):
                (folder / name).write_bytes(self.scenario.old)
        return folder

    def run(self, folder, *before):
        # No OpenCL: PoCL makes thousands of system calls, and keeps files of its own.
        env = {
            **os.environ,
            "OCL_ICD_VENDORS": "/no/such/folder",
            "XDG_CACHE_HOME": str(folder / "cache"),
            "CONCORD_TUNING": "off",
            "CONCORD_THREADS": "1",
            # By default Open MPI starts neither as root nor with more ranks than processors.
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1",
            "OMPI_MCA_mpi_yield_when_idle": "1",
            "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
            # By default mpiexec fails if another one ends: both use one folder.
            "OMPI_MCA_orte_tmpdir_base": str(folder),
            # By default mpiexec hangs if a rank is killed in MPI_Init and holds a lock (openpmix/openpmix issue 1233).
            "PMIX_MCA_gds": "hash",
        }
        command = [self.program, *self.scenario.command]
        if self.scenario.rank is None:
            command = [*before, *command]
        else:
            ranks = [[*before, *command] if rank == self.scenario.rank else command for rank in (0, 1)]
            command = [self.mpiexec, "-n", "1", *ranks[0], ":", "-n", "1", *ranks[1]]
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
                os.killpg(process.pid, signal.SIGTERM)  # mpiexec ends the ranks, which are not in its group
                time.sleep(5)
                os.killpg(process.pid, signal.SIGKILL)  # strace and the program
                return subprocess.CompletedProcess(command, HANGS, b"", b"hangs")

    def is_whole(self, data):
        if self.scenario.end is None:
            return data == self.expected
        return data.endswith(self.scenario.end) and data.count(b"\n") >= self.expected.count(b"\n") // 2

    def calls(self, folder):
        """Yields each call of a trace: thread, name, how often the thread has made it so far, and the line."""
        numbers = collections.Counter()
        for line in (folder / "trace").read_text(errors="replace").splitlines():
            found = re.match(r"(\d+) +(\w+)\(", line)
            if found:
                numbers[found.groups()] += 1
                yield *found.groups(), numbers[found.groups()], line

    def trace(self):
        """Runs without a further fault. Returns the calls, and which openat creates a file without a name."""
        folder = self.fresh("whole")
        traced = ",".join(CHANGING + OTHERS)
        done = self.run(folder, "strace", "-f", "-qq", "-o", "trace", "-e", f"trace={traced}", *self.always)
        assert done.returncode == 0, done
        self.expected = (folder / self.scenario.out).read_bytes()
        calls = list(self.calls(folder))
        unnamed = [number for _, _, number, line in calls if "O_TMPFILE" in line]
        return calls, unnamed[-1] if unnamed else None

    def plan(self, every):
        """The faults for the scenario's file system. every: all of them, or a sample."""
        calls, unnamed = self.trace()
        if self.scenario.no_unnamed and unnamed is not None:
            self.always = ["-e", f"inject=openat:error=EOPNOTSUPP:when={unnamed}"]
            calls, _ = self.trace()
        if self.scenario.rank is not None:
            return self.plan_rank(calls, every)
        counts = {}
        for _, call, number, _ in calls:
            counts[call] = max(counts.get(call, 0), number)
        plan = []
        for call, count in sorted(counts.items()):
            errors = ["signal=KILL", "signal=TERM", *(f"error={error}" for error in ERRORS.get(call, []))]
            if every:
                plan += [(call, number, error) for number in range(1, count + 1) for error in errors]
            elif call in CHANGING:
                plan += [(call, count, error) for error in errors[:3]]
                if count > 1:
                    plan.append((call, 1, errors[0]))
        return plan

    @staticmethod
    def plan_rank(calls, every):
        """Kills a rank: few times while MPI starts, often while the output is written, few times while MPI ends."""
        main = [(call, number, line) for thread, call, number, line in calls if thread == calls[0][0]]
        first = next(i for i, (_, _, line) in enumerate(main) if TEMPORARY in line)
        end = first + RANK_CALLS
        step = 5 if every else 200
        chosen = [*main[:first:step], *main[first : end : 1 if every else 2], *main[end::step]]
        return [(call, number, "signal=KILL") for call, number, _ in chosen]

    def inject(self, call, number, fault, then_again):
        """One run with a fault, and perhaps the next one. Returns whether the fault arrived, and the problem."""
        name = f"{call}-{number}-{fault}"
        folder = self.fresh(name)
        # Only traced calls are injected. Of two injections into one call the last one counts.
        faults = ["-e", f"trace=openat,{call}", *self.always, "-e", f"inject={call}:{fault}:when={number}"]
        done = self.run(folder, "strace", "-f", "-q", "-o", "trace", *faults)
        arrived = any(made[1:3] == (call, number) for made in self.calls(folder))
        if fault == "signal=KILL":
            arrived = arrived and "+++ killed by SIGKILL" in (folder / "trace").read_text(errors="replace")
        problem = self.problem(folder, done, fault, arrived)
        if problem is None and then_again:
            again = self.run(folder)
            if again.returncode != 0:
                problem = f"the next run: status {again.returncode}: {again.stderr.decode(errors='replace')[:300]}"
            elif not self.is_whole((folder / self.scenario.out).read_bytes()):
                problem = "the next run writes another output"
        if problem is None:
            shutil.rmtree(folder)
        return arrived, f"{self.scenario.name}: {name}: {problem}" if problem else None

    def problem(self, folder, done, fault, arrived):
        kills = fault.startswith("signal")
        if done.returncode == HANGS:
            return "hangs"
        said = done.stderr.decode(errors="replace")[:300]
        # 127: the dynamic loader found no library.
        if not kills and done.returncode not in (0, 1, 2, 3, 4, 127):
            return f"status {done.returncode}: {said}"
        if fault == "signal=KILL" and (done.returncode == 0) == arrived:
            return f"status {done.returncode}, and the signal {'arrived' if arrived else 'did not arrive'}: {said}"
        out = folder / self.scenario.out
        there = out.read_bytes() if out.exists() else None
        if there is not None and there != self.scenario.old and not self.is_whole(there):
            return f"a part of the output is left, of {len(there)} bytes; status {done.returncode}: {said}"
        # Not of the reports of a study, which appear one by one.
        alone = self.scenario.second is None and self.scenario.name != "study"
        if alone and not kills and done.returncode in (2, 3, 4) and there not in (None, self.scenario.old):
            return f"status {done.returncode} although the output is written: {said}"
        if self.scenario.second and fault == "signal=TERM":
            second = (folder / self.scenario.second).read_bytes()
            if (there == self.scenario.old) != (second == self.scenario.old):
                return f"one of two outputs is written; status {done.returncode}: {said}"
        if done.returncode == 0 and (there is None or not self.is_whole(there)):
            return f"status 0 without the output: {said}"
        if self.scenario.rank is not None:  # the other rank may still run when mpiexec has ended
            end = time.monotonic() + 5
            while any(folder.rglob(TEMPORARY + "*")) and time.monotonic() < end:
                time.sleep(0.05)
        for file in folder.rglob(TEMPORARY + "*"):
            # A file that replaces another one has a temporary name for a moment, when it is complete.
            if fault != "signal=KILL" or self.scenario.rank is not None:
                return f"{file} is left: {said}"
            if not self.scenario.named and self.scenario.end is None and not self.is_whole(file.read_bytes()):
                return f"a part of the output is left as {file}: {said}"
        return None

    def all(self, every):
        """Injects faults. every: all of them, or a sample."""
        plan = self.plan(every)
        again = plan
        if not every and self.scenario.name != "cache":
            # A run that is not killed leaves no file that could disturb the next one, which problem() checks.
            again = [what for what in plan if what[2] == "signal=KILL"][:: 1 if self.scenario.rank is None else 4]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(lambda what: self.inject(*what, what in again), plan))
        self.runs = len(plan)
        self.arrived = sum(arrived for arrived, _ in results)
        self.survivors = [problem for _, problem in results if problem]
        # Polling and progress threads make calls in varying numbers.
        if self.arrived < self.runs / 2:
            self.survivors.append(f"{self.scenario.name}: only {self.arrived} of {self.runs} faults arrived")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("--mpiexec")
    parser.add_argument("--long", action="store_true")
    arguments = parser.parse_args()
    if shutil.which("strace") is None or subprocess.run(["strace", "-qq", "true"], capture_output=True, check=False).returncode:
        print("skipped: strace is not installed (apt-get install strace), or may not trace")
        sys.exit(77)
    problems = []
    with tempfile.TemporaryDirectory(prefix="concord-faults-") as folder:
        for scenario in rank_scenarios() if arguments.mpiexec else scenarios(arguments.program):
            faults = Faults(arguments.program, arguments.mpiexec, scenario, pathlib.Path(folder) / scenario.name)
            faults.all(arguments.long)
            print(
                f"{scenario.name}: {faults.runs} faults, {faults.arrived} arrived, {len(faults.survivors)} problems",
                flush=True,
            )
            problems += faults.survivors
    print("\n".join(problems))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
