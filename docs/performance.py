#!/usr/bin/env python3
"""performance.py [--results DIR] COMMAND: prints tables of the stored results in docs/results/ as Markdown, for generated blocks of the pages.

    machines          the measured machines, with links to their pages
    machine NAME      all figures of docs/results/NAME.bench.json, first those of peers that are faster
    algorithm NAME    the figures of an algorithm at its largest size, on all machines
    headline [NAME...]
                      a row for each algorithm: rate, fraction of the attainable rate, fastest peer library. Default: all machines
    python            Concord from Python next to NumPy, PyTorch and CuPy
    agreement         what `concord check` found, a row for each algorithm
    figures [DIR]     writes agreement.svg and speedups.svg (default: docs/_static)

docs/store_results.py stores the results. DIR: another folder than docs/results.
"""
import html
import math
import sys
from pathlib import Path

sys.dont_write_bytecode = True
import stored_results

DOCS = Path(__file__).parent
RESULTS = stored_results.RESULTS
BACKENDS = {"cuda": "CUDA", "opencl": "OpenCL", "tbb": "oneTBB"}


# --- Results --------------------------------------------------------------------------------------------------------

class Group:
    """The rows of one workload, type and size on one device: Concord's variants and the peers, each fastest first."""

    def __init__(self, device, rows):
        self.device = device
        first = rows[0]
        self.algorithm, self.function, self.type, self.n = (first[k] for k in ("algorithm", "function", "type", "n"))
        timed = sorted((r for r in rows if "median_ms" in r), key=lambda r: r["median_ms"])
        self.untimed = [r for r in rows if "median_ms" not in r]
        self.variants = [r for r in timed if r["kind"] == "variant"]
        self.peers = [r for r in timed if r["kind"] == "baseline"] if self.variants else []

    @property
    def best(self):
        """What `auto` takes: the variant that the baselines are compared with, or the fastest one."""
        named = {r.get("ratio_to") for r in self.peers}
        return next((v for v in self.variants if v["variant"] in named), self.variants[0])

    def speed_up(self, peer):
        return peer["median_ms"] / self.best["median_ms"]

    @property
    def work(self):
        return f"{self.algorithm} {self.function} of {size_of(self.n)} {self.type}"


class Device:
    def __init__(self, machine, info):
        self.machine, self.selector, self.name = machine, info["selector"], info["name"]
        self.driver, self.libraries, self.ceilings = info.get("driver", ""), info.get("libraries", {}), info.get("ceilings", {})
        self.hardware = info.get("hardware", "")
        self.backend = BACKENDS.get(self.selector.split(":")[0], self.selector)
        self.groups = []

    @property
    def title(self):
        return f"{self.name}, {self.backend}"


class Machine:
    def __init__(self, path):
        stored = stored_results.read(path)
        self.name, self.title, self.runs = path.name.split(".")[0], stored["title"], stored["runs"]
        self.devices = {}
        for run in self.runs:
            for info in run["devices"]:
                device = self.devices.setdefault(info["selector"], Device(self, info))
                device.libraries.update(info.get("libraries", {}))
            groups = {}
            for row in run["results"]:
                groups.setdefault((row["device"], row["algorithm"], row["function"], row["type"], row["n"]), []).append(row)
            for (selector, *_), rows in groups.items():
                group = Group(self.devices[selector], rows)
                group.run = run
                if group.variants:
                    self.devices[selector].groups.append(group)


def machines():
    return [Machine(path) for path in sorted(RESULTS.glob("*.bench.json"))]


def algorithms(devices):
    names = {}
    for device in devices:
        for group in device.groups:
            names[group.algorithm] = None
    return list(names)


# --- Words ----------------------------------------------------------------------------------------------------------

def digits(value, count=3):
    if value == 0 or not math.isfinite(value):
        return str(value)
    places = max(0, count - 1 - math.floor(math.log10(abs(value))))
    return f"{value:.{places}f}"


def scaled(value, unit, prefixes="GTP"):
    for prefix in prefixes[:-1]:
        if value < 999.5:
            return f"{digits(value)} {prefix}{unit}"
        value /= 1000
    return f"{digits(value)} {prefixes[-1]}{unit}"


def time_of(ms):
    if ms < 0.9995:
        return f"{digits(ms * 1e3)} µs"
    return f"{digits(ms)} ms" if ms < 999.5 else f"{digits(ms / 1e3)} s"


def rate_of(row):
    """Bytes or operations per second, by what bounds the work; elements per second for sorts and where no attainable rate is known."""
    if row["algorithm"] == "sort":
        return scaled(row["n"] / row["median_ms"] * 1e-6, "keys/s")
    if "gflop_per_s" in row and (row.get("ceiling") in ("fma", "mma") or "gb_per_s" not in row):
        return scaled(row["gflop_per_s"], "FLOP/s")
    if row.get("ceiling") and "gb_per_s" in row:
        return scaled(row["gb_per_s"], "B/s")
    return scaled(row["n"] / row["median_ms"] * 1e-6, "elem/s")


MAX_OF_CEILING = 1.03  # max_of_ceiling in lab/bench/include/concord/lab/ceilings.hpp


def fraction_of(row):
    if row["algorithm"] == "sort":  # in older results it has a fraction of the copy rate
        return "–"
    if row.get("of_ceiling") is None or not row.get("ceiling"):
        return "–"
    return f"{row['of_ceiling'] * 100:.0f} %" if row["of_ceiling"] <= MAX_OF_CEILING else "> 100 %"


def size_of(n):
    return f"2^{n.bit_length() - 1}" if n >= 1024 and n & (n - 1) == 0 else str(n)


def peer_of(device, row, call=True):
    """"CUB 3.5.0 (cub::DeviceReduce::Sum)": library, version and, if asked for, function."""
    library, variant = row.get("library") or "", row["variant"]
    if any(c.isdigit() for c in library):  # "CUB 3.0.1", as bench writes it
        return f"{library} ({row['call']})" if call and row.get("call") else library
    for name, number in device.libraries.items():
        if name.lower() == library.lower():
            library = f"{name} {number}"
    return f"{library} {variant}".strip()


def mark_of(row):
    return " \\*" if row.get("note") else ""


def ratio_of(value):
    return f"{value:.2f}x" if value < 9.995 else f"{digits(value)}x"


def compared(value, peer):
    """"1.24x the speed of CUB", "as fast as CUB"."""
    if 0.995 <= value < 1.005:
        return f"as fast as {peer}"
    return f"{ratio_of(value)} the speed of {peer}"


def table(header, rows):
    align = ["--:" if name.startswith(">") else "---" for name in header]
    lines = ["| " + " | ".join(name.lstrip(">") for name in header) + " |", "|" + "|".join(align) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


# --- Tables ---------------------------------------------------------------------------------------------------------

SPEED_UP = ("Speed-up is the peer's time divided by Concord's: above 1, Concord is faster. Results are verified before they are timed. "
            "The fraction compares with the attainable rate (copy, read, fused multiply-add, or f64 products on tensor cores) measured "
            "in the same run. "
            "Above 103 % the table says > 100 %: small work is bound by latency and caches, and some calls use other units than the "
            "kernel that measures the rate, or another mix of reads and writes.\n")
COLUMNS = ["workload", "type", ">elements", "variant", ">time", ">rate", ">fraction", "speed-up over peers"]


def rows_of(groups, all_variants=False):
    rows = []
    for group in groups:
        peers = ", ".join(f"{ratio_of(group.speed_up(p))} {name_of(group.device, p)}{mark_of(p)}" for p in group.peers) or "–"
        for variant in group.variants if all_variants else [group.best]:
            rows.append([group.function, group.type, size_of(group.n), f"`{variant['variant']}`",
                         time_of(variant["median_ms"]) + mark_of(variant),
                         rate_of(variant), fraction_of(variant), peers if variant is group.best else ""])
    return rows


def name_of(device, row):
    """A peer's name in the tables: the row's, which legend() explains, or the library where rows have no call."""
    return f"`{row['variant']}`" if row.get("call") else peer_of(device, row)


def legend(groups):
    """Library, version and functions behind the peers' names, then the notes of marked times, then the rows without a time."""
    peers, notes, untimed = {}, {}, []
    for group in groups:
        for row in group.peers:
            if row.get("call"):
                peers.setdefault((row["variant"], row["library"]), {})[row["call"]] = None
        for row in group.variants + group.peers:
            if row.get("note"):
                notes.setdefault(row["note"], []).append(f"`{row['variant']}` {group.function} of {size_of(group.n)} {group.type}")
        untimed += [f"`{row['variant']}` {group.function} of {size_of(group.n)} {group.type}: {row['problem']}"
                    for row in group.untimed if "problem" in row]
    text = ""
    if peers:
        text += "Peers: " + "; ".join(f"`{name}` is {library} ({', '.join(calls)})" for (name, library), calls in peers.items()) + ".\n\n"
    text += "".join(f"\\* {note}: {', '.join(rows)}.\n\n" for note, rows in notes.items())
    text += "".join(f"No time: {line}.\n\n" for line in untimed)
    return text


def comparisons(device):
    """[(speed-up, group, peer)] of all peers' rows that have a time."""
    return [(group.speed_up(peer), group, peer) for group in device.groups for peer in group.peers]


def losses(device):
    """The comparisons in which the peer is faster, the fastest first."""
    return sorted((c for c in comparisons(device) if c[0] < 1), key=lambda c: c[0])


def print_losses(device):
    found, count = losses(device), len(comparisons(device))
    if count == 0:
        return
    print(f"### Where a peer is faster ({device.backend})\n")
    print(f"{len(found)} of {count} comparisons with peers.\n")
    if found:
        print(table(["work", "type", ">elements", "variant", ">time", "peer", ">peer's time", ">speed-up"],
                    [[f"{g.algorithm} {g.function}", g.type, size_of(g.n), f"`{g.best['variant']}`",
                      time_of(g.best["median_ms"]) + mark_of(g.best), peer_of(device, p), time_of(p["median_ms"]) + mark_of(p),
                      f"{digits(value)}x"] for value, g, p in found]))


def commands(runs):
    text = ""
    for run in runs:
        text += f"- `{run['command']}`, version {run['version']}"
        text += f", commit {run['commit']}" if run.get("commit") else ""
        text += f", {run['date']}"
        text += f". {run['note']}" if run.get("note") else ""
        text += "\n"
    return text


def print_machine(name):
    machine = Machine(RESULTS / f"{name}.bench.json")
    hosts = [f"{facts['cpu']}, {facts['cores']} cores, {facts['os']}; Concord compiled by {facts['compiler']}"
             for facts in (run["machine"] for run in machine.runs)]
    print("Host: " + ". ".join(dict.fromkeys(hosts)) + ".\n\nMeasured by\n")
    print(commands(machine.runs))
    print(SPEED_UP)
    for device in machine.devices.values():
        if not device.groups:
            continue
        print(f"## {device.title}\n")
        libraries = ", ".join(f"{k}: {v}" for k, v in device.libraries.items())
        facts = [f"selector `{device.selector}`", device.hardware, device.driver, libraries]
        facts = "; ".join(fact for fact in facts if fact)
        print(facts[0].upper() + facts[1:] + ".\n")
        names = {"copy_gb_per_s": ("copy", "B/s"), "read_gb_per_s": ("read", "B/s"),
                 "fma_f32_gflop_per_s": ("f32 fused multiply-add", "FLOP/s"),
                 "fma_f64_gflop_per_s": ("f64 fused multiply-add", "FLOP/s"),
                 "mma_f64_gflop_per_s": ("f64 on tensor cores", "FLOP/s")}
        known = [f"{names[k][0]} {scaled(v, names[k][1])}" for k, v in device.ceilings.items() if k in names]
        if known:
            print(f"Attainable rates: {', '.join(known)}.\n")
        print_losses(device)
        for algorithm in algorithms([device]):
            groups = [g for g in device.groups if g.algorithm == algorithm]
            print(f"### {algorithm} ({device.backend})\n")
            print(table(COLUMNS, rows_of(groups, all_variants=True)))
            print(legend(groups), end="")


def print_machines():
    rows = []
    for machine in machines():
        for device in machine.devices.values():
            if device.groups:
                rows.append([f"[{machine.title}]({machine.name}.md)", f"`{device.selector}`", device.name, device.backend,
                             max(group.run["date"] for group in device.groups), str(len(device.groups)), str(len(comparisons(device))),
                             str(len(losses(device)))])
    print(table(["machine", "selector", "device", "backend", "measured on", ">workloads", ">comparisons with peers", ">peer faster"],
                rows), end="")


def print_algorithm(name):
    printed = False
    for machine in machines():
        for device in machine.devices.values():
            largest = {}
            for group in device.groups:
                key = (group.function, group.type)
                if group.algorithm == name and (key not in largest or group.n > largest[key].n):
                    largest[key] = group
            if not largest:
                continue
            runs = {id(g.run): g.run for g in largest.values()}
            how = "; ".join(f"`{run['command']}` on {run['date']}" for run in runs.values())
            print(f"**{device.title}** ({how}; [all sizes](../performance/{machine.name}.md)):\n")
            print(table(COLUMNS, rows_of(largest.values(), all_variants=True)))
            print(legend(largest.values()), end="")
            printed = True
    if not printed:
        print("There are no stored measurements.\n")
    else:
        print(SPEED_UP, end="")


def headlines(names=()):
    """[(algorithm, {device: Group})]: of each device with peers, the largest size of the first workload that has a peer.

    names: the machines; default: all."""
    known = machines()
    if unknown := set(names) - {m.name for m in known}:
        sys.exit(f"performance.py: unknown machine '{min(unknown)}'; available: {', '.join(m.name for m in known)}")
    devices = [d for m in known if not names or m.name in names for d in m.devices.values() if any(g.peers for g in d.groups)]
    devices.sort(key=lambda d: list(BACKENDS.values()).index(d.backend) if d.backend in BACKENDS.values() else 9)
    rows = []
    for algorithm in algorithms(devices):
        found = {}
        for device in devices:
            groups = [g for g in device.groups if g.algorithm == algorithm]
            if not groups:
                continue
            with_peers = [g for g in groups if g.peers] or groups
            first = with_peers[0]
            found[device] = max((g for g in with_peers if (g.function, g.type) == (first.function, first.type)), key=lambda g: g.n)
        rows.append((algorithm, found))
    return devices, rows


def print_headline(names):
    devices, rows = headlines(names)
    lines = []
    for algorithm, found in rows:
        line = [algorithm]
        for device in devices:
            group = found.get(device)
            if group is None:
                line.append("–")
                continue
            best = group.best
            fraction = f" ({fraction_of(best)} of attainable)" if fraction_of(best) != "–" else ""
            line.append(f"{group.function} of {size_of(group.n)} {group.type}: {rate_of(best)}{fraction}; " +
                        (fastest_peer(device, group) if group.peers else "no peer"))
        lines.append(line)
    print(table(["algorithm"] + [device.title for device in devices], [*lines, worst_case(devices)]), end="")
    if any(mark_of(group.peers[0]) for _, found in rows for group in found.values() if group.peers):
        print("\n\\* see the note on the machine's page: the peer's contract differs, or the result is verified with a statistical bound.")


def fastest_peer(device, group):
    peer = group.peers[0]
    return compared(group.speed_up(peer), peer_of(device, peer)) + mark_of(peer)


def lowest(device):
    """The group with the device's smallest speed-up at the largest size of a workload."""
    largest = {}
    for g in device.groups:
        if g.peers and g.n >= largest.get((g.algorithm, g.function, g.type), g).n:
            largest[g.algorithm, g.function, g.type] = g
    return min(largest.values(), key=lambda g: g.speed_up(g.peers[0]))


def worst_case(devices):
    """The last row of the headline table."""
    line = ["lowest speed-up of all workloads at their largest size"]
    for device in devices:
        group = lowest(device)
        line.append(f"{group.work}: {rate_of(group.best)}; {fastest_peer(device, group)}")
    return line


def print_python():
    """What python/benchmarks/compare.py measured, a table for each device."""
    import json

    for path in sorted(RESULTS.glob("*.python.json")):
        with open(path, encoding="utf-8") as file:
            stored = json.load(file)
        rows = {}
        for row in stored["rows"]:
            rows.setdefault((row["function"], row["dtype"], row["n"]), []).append(row)
        libraries = list(dict.fromkeys(row["library"] for row in stored["rows"]))
        versions = ", ".join(f"{name} {version}" for name, version in stored["versions"].items() if name in libraries + ["Python"])
        print(f"**{stored['device']}**, {stored['driver']}; {versions}; {stored['date']}, version {stored['version']}.\n")
        lines = []
        for (function, dtype, n), measured in rows.items():
            cells = [f"`{function}`", dtype, size_of(n), time_of(measured[0]["ms"])]
            for library in libraries:
                peer = next((row for row in measured if row["library"] == library), None)
                cells.append(f"{time_of(peer['peer_ms'])} ({digits(peer['peer_ms'] / peer['ms'])}x)" if peer else "–")
            lines.append(cells)
        print(table(["function", "dtype", ">elements", ">Concord"] + [f">{name}" for name in libraries], lines))
        host = [f"{digits(times['overhead_us'])} µs for {library}" for library, times in stored["overhead"].items()]
        print(f"A call from Python takes longer on the host than the same call in C++, by {', '.join(host)}.\n")


# --- Agreement ------------------------------------------------------------------------------------------------------

def agreement():
    """[(column title, {algorithm: counts})] of all stored checks."""
    columns = []
    for path in sorted(RESULTS.glob("*.check.json")):
        stored = stored_results.read(path)
        for device in stored["devices"]:
            counts = {}
            for cell in stored["matrix"]:
                if cell["device"] != device["selector"]:
                    continue
                at = counts.setdefault(cell["algorithm"], {"bits": 0, "bound": 0, "failed": 0, "compiles": 0, "cases": 0})
                correct = cell.get("passed", 0) + cell.get("compiled", 0)
                at["cases"] += correct
                if cell.get("failed", 0):
                    at["failed"] += 1
                elif correct:
                    verdict = cell["verdict"]
                    at["compiles" if "compile" in verdict else "bound" if "bound" in verdict else "bits"] += 1
            backend = BACKENDS.get(device["selector"].split(":")[0], "")
            columns.append((device["name"], backend, counts, stored))
    return columns


def names_of(columns):
    names = {}
    for _, _, counts, _ in columns:
        names.update(dict.fromkeys(counts))
    return list(names)


def cell_words(at):
    """Two lines: what agrees, and how many cases."""
    if at is None or not any(at[k] for k in ("bits", "bound", "failed", "compiles")):
        return "–", ""
    parts = [f"{at['bits']} identical"] if at["bits"] else []
    parts += [f"{at['bound']} within bound"] if at["bound"] else []
    parts += [f"{at['compiles']} compile"] if at["compiles"] else []
    parts += [f"{at['failed']} FAILED"] if at["failed"] else []
    return ", ".join(parts), f"{at['cases']:,} cases".replace(",", " ")


def print_agreement():
    columns = agreement()
    rows = []
    for name in names_of(columns):
        words = [cell_words(counts.get(name)) for _, _, counts, _ in columns]
        rows.append([name] + [f"{a} ({b})" if b else a for a, b in words])
    print(table(["algorithm"] + [f"{name}, {backend}" for name, backend, *_ in columns], rows))
    print("Variants per algorithm: *identical* results are bitwise those of the serial reference; results *within bound* are "
          "floating-point sums in another order, or products of split operands (`tf32x3`). Commands: " +
          "; ".join(dict.fromkeys(f"`{s['command']}` on {s['date']} ({s['covers']})" for *_, s in columns)) + ".")


# --- Figures --------------------------------------------------------------------------------------------------------

STYLE = """<style>
.card{fill:#fff;stroke:#d0d7de}.text{fill:#1f2328}.faint{fill:#59636e}.axis{stroke:#8c959f}.grid{stroke:#d8dee4}
.good{fill:#c6ecd0}.bound{fill:#d3e5fb}.none{fill:#eef1f4}.bad{fill:#ffb3ad}.faster{fill:#2f81d6}.slower{fill:#d9822b}.cpu{fill:#3c9c6b}
text{font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:13px}
.small{font-size:11px}.title{font-size:15px;font-weight:600}.section{font-weight:600}
@media (prefers-color-scheme:dark){.card{fill:#161b22;stroke:#30363d}.text{fill:#e6edf3}.faint{fill:#9198a1}.axis{stroke:#6e7681}.grid{stroke:#30363d}
.good{fill:#1d5a33}.bound{fill:#1f4573}.none{fill:#262c36}.bad{fill:#8e2f29}.faster{fill:#58a6ff}.slower{fill:#f0a04b}.cpu{fill:#56c288}}
</style>
"""


def svg(width, height, title, description, body):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
            f'aria-labelledby="t d">\n<title id="t">{html.escape(title)}</title><desc id="d">{html.escape(description)}</desc>\n{STYLE}'
            f'<rect class="card" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>\n{body}</svg>\n')


def words(x, y, text, classes="text", anchor="start"):
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{classes}" text-anchor="{anchor}">{html.escape(text)}</text>\n'


def agreement_svg():
    columns = agreement()
    names = names_of(columns)
    left, top, cell_width, cell_height = 100, 84, 190, 40
    cell_width = max(cell_width, 560 // max(1, len(columns)))
    width, height = left + cell_width * len(columns) + 16, top + cell_height * len(names) + 56
    body = words(16, 28, "Agreement with the serial reference: variants of each algorithm", "text title")
    for k, (name, backend, _, _) in enumerate(columns):
        middle = left + cell_width * k + cell_width / 2
        body += words(middle, 58, name if len(name) <= 28 else name[:27] + "…", "text", "middle")
        body += words(middle, 74, backend, "faint small", "middle")
    for r, algorithm in enumerate(names):
        y = top + cell_height * r
        body += words(16, y + 24, algorithm)
        for k, (_, _, counts, _) in enumerate(columns):
            at = counts.get(algorithm)
            first, second = cell_words(at)
            kind = "none" if first == "–" else "bad" if at["failed"] else "bound" if at["bound"] else "good"
            x = left + cell_width * k
            body += f'<rect class="{kind}" x="{x + 2}" y="{y + 2}" width="{cell_width - 4}" height="{cell_height - 4}" rx="4"/>\n'
            middle = x + cell_width / 2
            body += words(middle, y + (18 if second else 25), first, "text small", "middle")
            if second:
                body += words(middle, y + 32, second, "faint small", "middle")
    body += words(16, height - 30, "identical: bitwise identical to the reference. within bound: sums in another order, or split operands (tf32x3), within the error bound",
                  "faint small")
    body += words(16, height - 14, "; ".join(dict.fromkeys(f"{s['covers']}, {s['date']}" for *_, s in columns)), "faint small")
    return svg(width, height, "Agreement matrix", "For each algorithm and device, how many variants give bitwise identical results.", body)


def speedups_svg():
    """A section for each device: a bar for each algorithm, then the device's lowest speed-up."""
    devices, rows = headlines()
    sections = []
    for device in devices:
        groups = [(algorithm, found[device]) for algorithm, found in rows if device in found and found[device].peers]
        sections.append((device, groups + [(f"lowest: {lowest(device).algorithm}", lowest(device))]))
    left, top, row, heading, plot = 250, 54, 20, 32, 320
    width = left + plot + 270
    height = top + sum(heading + row * len(groups) for _, groups in sections) + 40
    values = [group.speed_up(group.peers[0]) for _, groups in sections for _, group in groups]
    low, high = 2.0 ** math.floor(math.log2(min([0.5, *values]))), 2.0 ** math.ceil(math.log2(max([2.0, *values])))

    def at(value):
        return left + plot * (math.log2(value) - math.log2(low)) / (math.log2(high) - math.log2(low))

    body = words(16, 28, "Speed-up over the fastest peer library (peer's time / Concord's time)", "text title")
    ticks = [2.0 ** k for k in range(round(math.log2(low)), round(math.log2(high)) + 1)]
    body += "".join(words(at(tick), top, f"{tick:g}x", "faint small", "middle") for tick in ticks)
    y = top
    for device, groups in sections:
        body += words(16, y + 20, device.title, "text section")
        body += words(left + plot + 10, y + 20, f"measured on {max(group.run['date'] for _, group in groups)}", "faint small")
        y += heading
        for tick in ticks:
            kind = "axis" if tick == 1 else "grid"
            body += f'<line class="{kind}" x1="{at(tick):.1f}" x2="{at(tick):.1f}" y1="{y}" y2="{y + row * len(groups)}"/>\n'
        for algorithm, group in groups:
            value, peer = group.speed_up(group.peers[0]), peer_of(device, group.peers[0], call=False)
            body += words(16, y + 14, f"{algorithm} {group.function}" if len(algorithm + group.function) < 26 else algorithm)
            body += words(left - 10, y + 14, f"{size_of(group.n)} {group.type}", "faint small", "end")
            begin, end = sorted((at(1), at(value)))
            kind = "slower" if value < 0.995 else "faster" if device.backend != "oneTBB" else "cpu"
            body += f'<rect class="{kind}" x="{begin:.1f}" y="{y + 3}" width="{max(end - begin, 1.5):.1f}" height="{row - 6}" rx="2"/>\n'
            body += words(left + plot + 10, y + 14, f"{ratio_of(value)} {peer}", "text small")
            y += row
    body += words(16, height - 14, "Right of 1x Concord is faster. lowest: the device's lowest speed-up of all workloads at their largest size.", "faint small")
    return svg(width, height, "Speed-ups over peer libraries",
               "For each device and algorithm, Concord's speed-up over the fastest peer library.", body)


def write_figures(folder):
    folder.mkdir(exist_ok=True)
    if agreement():
        (folder / "agreement.svg").write_text(agreement_svg(), encoding="utf-8")
    if headlines()[0]:
        (folder / "speedups.svg").write_text(speedups_svg(), encoding="utf-8")


def main():
    global RESULTS
    words = sys.argv[1:]
    if words[:1] == ["--results"] and len(words) > 1:
        RESULTS, words = Path(words[1]), words[2:]
    match words:
        case ["machines"]:
            print_machines()
        case ["machine", name]:
            print_machine(name)
        case ["algorithm", name]:
            print_algorithm(name)
        case ["headline", *names]:
            print_headline(names)
        case ["python"]:
            print_python()
        case ["agreement"]:
            print_agreement()
        case ["figures"]:
            write_figures(DOCS / "_static")
        case ["figures", folder]:
            write_figures(Path(folder))
        case _:
            sys.exit(__doc__)


try:
    main()
except stored_results.Invalid as problem:
    sys.exit(f"performance.py: {problem}")
