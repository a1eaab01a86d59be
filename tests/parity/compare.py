"""Our table beside RL-Insight's DataFrame, row by row. Prints a line of JSON a capture: how many rows, and the differences by kind.

usage: compare.py FOLDER OURS.jsonl [FOLDER OURS.jsonl]...

Every number is compared as f64, times to 0.001 ms; a difference that is none of the kinds below is "other". Kinds:

  returned-only     A block was seen returning to the pool and not released. It ends there; RL-Insight has a duration of 0.
  computed-duration The file has a release and no duration. It is the difference of two times; RL-Insight has 0.
  nearest-in-f64    RL-Insight compares instants as f64 of microseconds, whose step is 0.25 us: of two operators about one instant it can
                    take the one that had not begun.
"""
import csv
import json
import os
import sys

from loguru import logger

logger.remove()
from recipe.parser import MemoryClusterParser  # noqa: E402  (its log must be quiet before)

TIMES = {"start_time_ms", "duration_ms"}
STACKS = {"call_stack", "call_stack_top"}
STEP_NS = 250


def key(row):
    """Rows of one instant stand in the order in which ranks happened to be done: both sides are put into another."""
    return (row["start_time_ms"], str(row["role"]), row["rank_id"], row["name"], row["size_kb"], row["duration_ms"], row["total_allocated_mb"], row["call_stack"])


def same(column, theirs, ours):
    if column in TIMES:
        return abs(theirs - ours) < 0.001 + 1e-9
    return theirs == ours


def cells(folder):
    """What the files say of each block, by rank folder: (release, return, duration) by name, start and size."""
    found = {}
    for root, _, files in os.walk(folder):
        if "operator_memory.csv" in files:
            with open(os.path.join(root, "operator_memory.csv"), encoding="utf-8") as file:
                for row in csv.DictReader(file):
                    cell = {name: value.strip() for name, value in row.items() if name and value is not None}
                    at = (cell["Name"], float(cell["Allocation Time(us)"]) / 1000, float(cell["Size(KB)"]))
                    found.setdefault(at, []).append((cell["Release Time(us)"], cell.get("Active Release Time(us)", ""), cell["Duration(us)"]))
    return found


def operator_starts(folder):
    """Starts of stack-carrying operators in ns, by name."""
    starts = {}
    for root, _, files in os.walk(folder):
        if "trace_view.json" in files:
            with open(os.path.join(root, "trace_view.json"), encoding="utf-8") as file:
                for event in json.load(file):
                    if event.get("cat") == "cpu_op" and "Call stack" in event.get("args", {}):
                        whole, _, part = str(event["ts"]).partition(".")
                        starts.setdefault(event["name"], []).append(int(whole) * 1000 + int(part.ljust(3, "0")[:3]))
    return starts


class Kinds:
    def __init__(self, folder):
        self.folder, self.cells, self.starts = folder, None, None

    def of(self, column, theirs, ours):
        at = (theirs["name"], theirs["start_time_ms"], theirs["size_kb"])
        if column == "duration_ms" and theirs[column] == 0:
            self.cells = self.cells or cells(self.folder)
            said = self.cells.get(at, [])
            if any(back and not release and not duration for release, back, duration in said):
                return "returned-only"
            if any(release and not duration for release, _, duration in said):
                return "computed-duration"
        if column in STACKS:
            self.starts = self.starts or operator_starts(self.folder)
            start_ns = theirs["start_time_ms"] * 1e6
            if any(abs(operator - start_ns) <= 2 * STEP_NS for operator in self.starts.get(theirs["name"], [])):
                return "nearest-in-f64"
        return "other"


def compare(folder, table):
    frame = MemoryClusterParser({"input": {"rank_list": "all"}, "rank_list": "all"}).run(folder)
    theirs = sorted(([] if frame is None else frame.to_dict("records")), key=key)
    with open(table, encoding="utf-8") as lines:
        ours = sorted((json.loads(line) for line in lines), key=key)
    starts = [row["start_time_ms"] for row in ours]
    columns = [] if frame is None else list(frame.columns)
    result = {"theirs": len(theirs), "ours": len(ours), "sorted": starts == sorted(starts), "columns": columns, "differences": {}, "examples": {}}
    kinds = Kinds(folder)
    for a, b in zip(theirs, ours):
        for column in columns:
            if not same(column, a[column], b[column]):
                kind = kinds.of(column, a, b)
                result["differences"][kind] = result["differences"].get(kind, 0) + 1
                result["examples"].setdefault(kind, [column, a["name"], a["start_time_ms"], a[column], b[column]])
    print(json.dumps(result))


for pair in zip(sys.argv[1::2], sys.argv[2::2]):
    compare(*pair)
