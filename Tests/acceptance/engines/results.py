"""The results of a run: a file that lets an interrupted run continue, and a table of what was tested."""

import collections
import hashlib
import threading

from service import WEB

FIELDS = ("engine", "group", "case", "detail", "script", "https")


def state(programs):
    """Changes whenever the pages or the programs change, because older results say nothing about new ones."""
    digest = hashlib.sha256()
    files = [path for path in sorted(WEB.rglob("*")) if path.is_file()]
    for path in (*files, programs / "regentd", programs / "regentctl"):
        digest.update(path.read_bytes())
    return digest.hexdigest()


class Results:
    """One line for each test: its name, its result, its seconds, what was measured, and what was wrong."""

    def __init__(self, path=None, of=""):
        self.path, self.lock, self.lines = path, threading.Lock(), {}
        if not path:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        before = path.read_text().splitlines() if path.exists() else []
        if before[:1] == [of]:
            for line in before[1:]:
                fields = line.split("\t")
                self.lines[tuple(fields[:len(FIELDS)])] = fields[len(FIELDS):]
        else:
            path.write_text(of + "\n")

    def is_known(self, key):
        return self.lines.get(key, ("",))[0] == "passed"

    def add(self, key, problem, seconds, timing):
        fields = ["failed" if problem else "passed", f"{seconds:.1f}", timing, " ".join((problem or "").split())]
        with self.lock:
            self.lines[key] = fields
            if self.path:
                with self.path.open("a") as file:
                    file.write("\t".join((*key, *fields)) + "\n")

    def failed(self):
        return [key for key, fields in self.lines.items() if fields[0] == "failed"]

    def table(self):
        """How many tests of each case passed, in each engine with and without script."""
        columns, rows = [], collections.defaultdict(collections.Counter)
        for (engine, group, case, _, script, _), fields in sorted(self.lines.items()):
            column = f"{engine}, {script}"
            columns += [column] if column not in columns else []
            rows[group, case][column] += 1
            rows[group, case][column, "passed"] += fields[0] == "passed"
        yield "\t".join(("group", "case", *columns))
        for (group, case), counts in rows.items():
            yield "\t".join((group, case, *(
                f"{counts[column, 'passed']}/{counts[column]}" if counts[column] else "-" for column in columns)))
