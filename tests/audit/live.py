#!/usr/bin/python3
"""Checks what snag's live system keeps of a program. It knows docs/formats.md, not the code.

    live.py SNAG synth [--programs N] [--seed S] [--first I]   programs made at random
    live.py SNAG traces [--foi F] TRACE...                     traces, or synth: programs
    live.py SNAG store STORE...                                stores that are there: no trace to compare with

A trace is replayed by `snag ad` into a store, and analysed into a run whose calls are those that the store
has to be about. Each contradiction is a line. The exit status is 1 where there is any.
"""
import csv
import io
import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict

import said
from audit import ENVIRONMENT, Failed, arguments, audit_all
from played import Run

US = 1000.0


def near(a, b, within=2e-3):
    """Microseconds with three decimals are the same, or sums of them by as much as doubles are."""
    return abs(a - b) <= within + 1e-9 * max(abs(a), abs(b))


def ask(snag, *args, status=(0, 3)):
    done = subprocess.run([snag, *args, "--quiet"], capture_output=True, text=True, env=ENVIRONMENT)
    if done.returncode not in status:
        raise Failed(f"snag {' '.join(args)}: status {done.returncode}: {done.stderr.strip()}")
    return done.stdout


class Calls:
    """All calls of a trace, by rank and thread, from a run of it.

    A run corrects clocks, which the live system cannot: where it did, times are not compared. What was open at the
    end of its location is in no statistics of the live system, which are of calls that ended.
    """

    def __init__(self, run):
        self.by_place, self.of_function = {}, defaultdict(lambda: [0, 0, 0, None, 0])
        self.n_open = Counter()
        self.corrected = {(l["rank"], l["thread"]) for l in run.locations if l["clock_offset_ns"] or l["clock_drift"]}
        self.is_disordered = int(run.meta["order_wrong_before"] or 0) > 0
        shift_ns = int(run.meta["shift_ns"] or 0)  # of times where no clock was corrected
        for location, part in zip(run.locations, run.part):
            here = Counter()
            first, own = part["first"], {}
            stack = []
            for row in range(first, first + part["n"]):
                while stack and stack[-1][1] <= row:
                    stack.pop()
                own[row] = run.inclusive[row]
                if stack:
                    own[stack[-1][0]] -= run.inclusive[row]
                stack.append((row, row + run.length[row]))
            for row, own_ns in own.items():
                name, total = run.name[run.region[row]], run.inclusive[row]
                self.n_open[name] += run.enter[row] + total == location["last_ns"]
                here[(name, run.enter[row] - shift_ns, total, own_ns)] += 1
                s = self.of_function[name]
                s[0] += 1
                s[1] += own_ns
                s[2] += total
                s[3] = total if s[3] is None else min(s[3], total)
                s[4] = max(s[4], total)
            self.by_place[(location["rank"], location["thread"])] = here
        self.spans = {place: {k[:3] for k in here} for place, here in self.by_place.items()}
        self.ends = {place: {k[:2]: k[1] + k[2] for k in here} for place, here in self.by_place.items()}

    def is_begun(self, rank, thread, name, begin, end):
        """Whether there is such a call that ended then, or later: it was open when it was looked at."""
        known = self.ends.get((rank, thread))
        return known is None or (rank, thread) in self.corrected or known.get((name, begin), -1) >= end

    def has(self, rank, thread, name, entry, exit_us):
        begin, end = round(entry * US), round(exit_us * US)
        return (rank, thread) in self.corrected or (name, begin, end - begin) in self.spans.get((rank, thread), ())


class StoreAudit:
    """One store, and the contradictions found in it."""

    def __init__(self, snag, path, name, calls=None, printed=None, is_by_path=False):
        self.snag, self.path, self.name, self.calls, self.printed = snag, path, name, calls, printed
        self.is_by_path = is_by_path  # functions of statistics are call paths
        self.found, self.n_checks = [], 0

    def claim(self, check, holds, *what):
        self.n_checks += 1
        if not holds:
            self.found.append((check, " ".join(str(w) for w in what)))

    def rows(self, sql):
        return [json.loads(line) for line in ask(self.snag, "query", self.path, sql, "--json").splitlines()]

    def records(self, what):
        return [json.loads(line) for line in ask(self.snag, "provdb", "filter", self.path, "1", "-w", what).splitlines()]

    def check(self):
        self.anomalies, self.normals = self.records("anomalies"), self.records("normalexecs")
        ids = Counter((r["run"], r["event_id"], bool(r["execution"])) for r in self.anomalies)
        for key, n in ids.items():
            self.claim("twice", n == 1, key, n)
        for record in self.anomalies:
            self.check_record(record, True)
        for record in self.normals:
            self.check_record(record, False)
        self.check_top()
        self.check_incidents()
        self.check_statistics()
        self.check_export()
        self.check_same_compared()
        if self.printed:
            self.check_printed()

    def is_call(self, c, rid, tid):
        return not self.calls or not c["exit"] or self.calls.has(rid, tid, c["func"], c["entry"], c["exit"])

    def check_record(self, r, is_strange):
        at = f"{r['event_id']} {r['func']}"
        rid, tid, execution = r["rid"], r["tid"], r["execution"]
        self.claim("times", not r["exit"] or near(r["exit"] - r["entry"], r["runtime_total"]), at, r["entry"], r["exit"], r["runtime_total"])
        self.claim("own", -1e-3 <= r["runtime_exclusive"] <= r["runtime_total"] + 1e-3, at, r["runtime_exclusive"], r["runtime_total"])
        self.claim("call", self.is_call(r, rid, tid), at, "is not in the trace")
        self.claim("step", r["io_step_tstart"] <= r["entry"] or "late" in at, at, "entered before its step")
        self.claim("p", r["p"] is None or 0 <= r["p"] <= 1, at, r["p"])
        if is_strange:
            self.claim("lost", r["outlier_severity"] <= r["runtime_total"] + 1e-3, at, "lost", r["outlier_severity"], "of", r["runtime_total"])
        else:
            self.claim("normal", r["outlier_severity"] == 0 or not is_strange, at)
        if r["cost_ns"] is not None:
            # Nobody can be ahead by more than was lost.
            self.claim("cost", 0 <= r["cost_ns"] <= max(r["outlier_severity"], 0) * US + 1000, at, "cost", r["cost_ns"], "lost", r["outlier_severity"])
        self.check_stack(r, at)
        self.check_cause(r, at)
        if execution:
            self.check_execution(r, at, is_strange)

    def check_stack(self, r, at):
        stack = r["call_stack"]
        self.claim("stack", stack and near(stack[0]["entry"], r["entry"]) and stack[0]["func"] == r["func"], at, "is not on its own stack")
        for inner, outer in zip(stack, stack[1:]):
            self.claim("stack", outer["entry"] <= inner["entry"] + 1e-3 and (not outer["exit"] or inner["exit"] <= outer["exit"] + 1e-3), at, inner["func"], "is not inside of", outer["func"])
        for c in stack[1:] + r["event_window"]["exec_window"]:
            self.claim("window", self.is_call(c, r["rid"], r["tid"]), at, c["func"], c["entry"], c["exit"], "is not in the trace")
        entries = [c["entry"] for c in r["event_window"]["exec_window"]]
        self.claim("window", entries == sorted(entries), at, "calls around it are not in order")

    def check_cause(self, r, at):
        chain = r["cause"] or []
        for k, link in enumerate(chain):
            self.claim("cause", link["time_ns"] >= 0 and link["begin_ns"] <= link["end_ns"], at, link)
            self.claim("cause", link["waits_for"] is not None or k == len(chain) - 1, at, "the chain goes on behind", link)
            if k and self.calls and not self.calls.is_disordered:
                # It may be over when the other begins to wait: its rank has been late since.
                self.claim("cause", link["begin_ns"] < chain[k - 1]["end_ns"], at, link["function"], "began after", chain[k - 1]["function"], "was over")
            self.claim("cause", not self.calls or self.calls.is_begun(link["rank"], link["thread"], link["function"], link["begin_ns"], link["end_ns"]), at, link, "is not in the trace")

    def check_execution(self, r, at, is_strange):
        x = r["execution"]
        self.claim("execution", x["id"] == f"#{r['rid']}-{x['index']}" or x["id"].startswith(f"#{r['rid']}."), at, x["id"])
        if is_strange:
            self.claim("score", r["outlier_score"] >= x["threshold"], at, r["outlier_score"], "below", x["threshold"])
            more = r["runtime_total"] - x["typical_ns"] / US
            self.claim("severity", near(r["outlier_severity"], max(more, 0), 2e-3), at, "lost", r["outlier_severity"], "took", r["runtime_total"], "typical", x["typical_ns"])
            self.check_why(r, x, at)

    def check_why(self, r, x, at):
        why = x["why"]
        self.claim("why", bool(why), at, "no sentence")
        if not why or not why.startswith("took "):
            return
        took = said.times_in(why)[0]
        self.claim("why", said.says(took, r["runtime_total"] * US), at, "took", r["runtime_total"], "but:", why)
        words = why.split(", ")[1].split(" ")
        if len(words) > 2 and words[1] == "deviations":
            deviations = float(words[0].replace(",", ""))
            self.claim("why", abs(deviations - r["outlier_score"]) <= 0.0051 * max(deviations, 10), at, "score", r["outlier_score"], "but:", why)
            self.claim("why", (words[2] == "more") == (said.printed(said.times_in(why)[-1]).ns <= r["runtime_total"] * US), at, why)

    def check_top(self):
        """The order is by what was asked, and the most of it."""
        severities = sorted((r["outlier_severity"] for r in self.anomalies if not r["is_pruned"]), reverse=True)
        top = [json.loads(line) for line in ask(self.snag, "provdb", "top", self.path, "--json", "--all").splitlines()]
        self.claim("top", all(near(a["outlier_severity"], b) for a, b in zip(top, severities)) and len(top) == len(severities), "top is not by severity:", [t["outlier_severity"] for t in top][:5], severities[:5])
        top = [json.loads(line) for line in ask(self.snag, "provdb", "top", self.path, "--json", "--all", "--by", "cost").splitlines()]
        costs = [t["cost_ns"] for t in top if t["cost_ns"] is not None and not t["cost_is_bound"]]
        self.claim("top", costs == sorted(costs, reverse=True), "not by cost", costs[:5])

    def check_incidents(self):
        """What was disturbed: each anomaly in one of them; what an execution lost in its calls counts once."""
        incidents = [json.loads(line) for line in ask(self.snag, "provdb", "top", self.path, "--json", "--all", "--incidents").splitlines()]
        strange = [r for r in self.anomalies if not r["is_pruned"]]
        inside = defaultdict(list)
        for r in strange:
            if not r["execution"]:
                for c in r["call_stack"]:
                    if c["event_id"]:
                        inside[(r["run"], c["event_id"])].append(r)
        lost = n_alone = 0
        for r in strange:
            calls = inside[(r["run"], r["event_id"])] if r["execution"] else []
            n_alone += not calls
            lost += max(r["outlier_severity"] - sum(c["outlier_severity"] for c in calls), 0)
        self.claim("incidents", near(sum(i["lost"] for i in incidents), lost, 1e-2 * max(len(strange), 1)), "lost in incidents", sum(i["lost"] for i in incidents), "in records", lost)
        self.claim("incidents", sum(i["calls"] for i in incidents) == n_alone, "calls in incidents", sum(i["calls"] for i in incidents), "records", n_alone)
        self.claim("incidents", [i["lost"] for i in incidents] == sorted((i["lost"] for i in incidents), reverse=True), "not by lost time")
        by_place = {(i["run"], i["rank"], i["thread"], i["function"], i["began"]) for i in incidents}
        for r in strange:
            if r["execution"] and (calls := inside[(r["run"], r["event_id"])]) and not r["cause"]:
                worst = max(calls, key=lambda c: c["outlier_severity"])
                if not worst["cause"] and worst["event_id"] != r["event_id"]:
                    self.claim("incidents", (r["run"], r["rid"], r["tid"], r["func"], r["entry"]) not in by_place,
                               r["execution"]["id"], "is an incident beside that of", worst["func"], "in it")

    def check_statistics(self):
        rows = self.rows("SELECT run, func, calls, anomalies, exclusive, inclusive, severity FROM func_stats_of_runs")
        for r in rows:
            for of in ("exclusive", "inclusive", "severity"):
                r[of] = json.loads(r[of])
        n = Counter((r["run"], r["func"]) for r in rows)
        for key, times in n.items():
            self.claim("func_stats", times == 1, key, "has", times, "rows")
        kept, severity = Counter(), Counter()
        for r in self.anomalies:
            if not r["execution"] and not r["is_pruned"]:  # what was taken back is in no sum
                func = "/".join(c["func"] for c in reversed(r["call_stack"])) if self.is_by_path else r["func"]
                kept[func] += 1
                severity[func] += r["outlier_severity"]
        for r in rows:
            self.claim("func_stats", r["inclusive"]["count"] == r["calls"], r["func"], r["calls"], "calls, statistics of", r["inclusive"]["count"])
            self.claim("func_stats", r["severity"]["count"] == r["anomalies"], r["func"], r["anomalies"], "anomalies, statistics of", r["severity"]["count"])
            if self.printed and not self.printed["dropped"] and not self.printed["removed"]:
                self.claim("func_stats", r["anomalies"] == kept[r["func"]], r["func"], r["anomalies"], "anomalies, records", kept[r["func"]])
                self.claim("func_stats", near(r["severity"]["accumulate"], severity[r["func"]], 1e-2 + 5e-4 * kept[r["func"]]), r["func"], "severity", r["severity"]["accumulate"], severity[r["func"]])
            if self.calls and not self.is_by_path:
                n_calls, own, total, least, most = self.calls.of_function[r["func"]]
                n_open = self.calls.n_open[r["func"]]
                self.claim("func_stats", n_calls - n_open <= r["calls"] <= n_calls, r["func"], "has", n_calls, "calls, says", r["calls"])
                if r["calls"] < n_calls or self.calls.corrected:
                    continue
                self.claim("func_stats", near(r["inclusive"]["accumulate"], total / US, 0.5), r["func"], "inclusive", r["inclusive"]["accumulate"], total / US)
                self.claim("func_stats", near(r["exclusive"]["accumulate"], own / US, 0.5), r["func"], "exclusive", r["exclusive"]["accumulate"], own / US)
                if n_calls:
                    self.claim("func_stats", near(r["inclusive"]["minimum"], least / US) and near(r["inclusive"]["maximum"], most / US), r["func"], r["inclusive"], least, most)
                    self.claim("func_stats", near(r["inclusive"]["mean"], total / US / n_calls, 1e-2), r["func"], r["inclusive"]["mean"])
        if self.calls:
            said_of = Counter()
            for r in rows:
                said_of[r["func"].rsplit("/", 1)[-1] if self.is_by_path else r["func"]] += r["calls"]
            for name, s in self.calls.of_function.items():
                self.claim("func_stats", s[0] - self.calls.n_open[name] <= said_of[name] <= s[0], name, "has", s[0], "calls, rows say", said_of[name])

    def check_export(self):
        text = ask(self.snag, "export", self.path, "--what", "anomalies", "--format", "csv")
        rows = list(csv.DictReader(io.StringIO(text)))
        self.claim("export", len(rows) == len(self.anomalies), len(rows), "rows of CSV,", len(self.anomalies), "records")
        for row, record in zip(rows, self.anomalies):
            for field in ("event_id", "rid", "tid", "entry", "runtime_total", "outlier_severity", "cost_ns"):
                if field in row and row[field] != "" and record[field] is not None:
                    same = near(float(row[field]), record[field]) if not isinstance(record[field], str) else row[field] == record[field]
                    self.claim("export", same, record["event_id"], field, row[field], record[field])

    def check_same_compared(self):
        for line in ask(self.snag, "provdb", "compare", self.path, self.path, "--json", "--all").splitlines():
            f = json.loads(line)
            self.claim("compare", f["difference"] == 0 and f["anomalies_1"] == f["anomalies_2"], f)
            n = sum(not r["is_pruned"] and r["func"] == f["func"] for r in self.anomalies)
            self.claim("compare", f["anomalies_1"] == n, f["func"], f["anomalies_1"], "records", n)

    def check_printed(self):
        p = self.printed
        kinds = Counter(bool(r["execution"]) for r in self.anomalies)
        if not p["removed"] and not p["dropped"]:
            self.claim("printed", p["stored_anomalies"] == kinds[False], "stored_anomalies", p["stored_anomalies"], kinds[False])
            self.claim("printed", p["stored_executions"] == kinds[True], "stored_executions", p["stored_executions"], kinds[True])
            self.claim("printed", p["stored_normals"] + p["stored_normal_executions"] == len(self.normals), "normals", p["stored_normals"], p["stored_normal_executions"], len(self.normals))
        pruned = sum(bool(r["is_pruned"]) for r in self.anomalies)
        self.claim("printed", p["pruned"] == pruned, "pruned", p["pruned"], pruned)
        if self.calls:
            n_calls = sum(s[0] for s in self.calls.of_function.values())
            self.claim("printed", n_calls - sum(self.calls.n_open.values()) <= p["calls"] <= n_calls, "calls", p["calls"], n_calls)
        for f in p.get("foi", []):
            of = [r for r in self.anomalies if r["execution"] and r["func"] == f["foi"]]
            self.claim("printed", not self.calls or f["executions"] <= sum(s[0] for s in self.calls.of_function.values()), f)
            self.claim("printed", f["anomalies"] >= len(of), f["foi"], f["anomalies"], "records", len(of))


def audit_trace(snag, trace, foi, work, options=()):
    """Replays a trace into a store, analyses it into a run, and compares the two."""
    here = tempfile.mkdtemp(dir=work)
    run, store = here + "/run.snag", here + "/store"
    ask(snag, "analyze", trace, "-o", run, "--json", *(["--foi", foi] if foi else []))
    printed = json.loads(ask(snag, "ad", trace, "--store", store, "--json", *(["--foi", foi] if foi else []), *options))
    audit = StoreAudit(snag, store, str(trace), Calls(Run(run)), printed, "path" in options)
    audit.check()
    shutil.rmtree(here)
    return audit


def main():
    args = arguments("store", 40)

    def audit_one(k, trace, foi, work):
        if args.what == "store":
            audit = StoreAudit(args.snag, trace, trace)
            audit.check()
            return audit
        options = []
        if args.what == "synth":
            options = ["--step", ["0.05", "0.3", "1", "0"][k % 4], *(["--model-key", "path"] if k % 7 == 3 else [])]
        return audit_trace(args.snag, trace, foi, work, options)

    return audit_all(args, audit_one, "stores")


if __name__ == "__main__":
    sys.exit(main())
