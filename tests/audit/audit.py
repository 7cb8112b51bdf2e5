#!/usr/bin/python3
"""Checks what snag says of runs. It knows docs/formats.md and docs/algorithms.md, not the code.

    audit.py SNAG synth [--programs N] [--seed S] [--first I]   programs made at random
    audit.py SNAG traces [--foi F] TRACE...                     traces, or synth: programs
    audit.py SNAG run RUN...                                    runs that are there

Each contradiction is a line: what was checked, of what, and what was said. The exit status is 1
where there is any.
"""
import argparse
import bisect
import csv
import io
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict

import programs
import said
from costs import Costs
from played import MAX_CALLS, NONE32, Run, own_ns
from shown import LONGER, Shown

MAX_SHOWN = 16  # executions that are looked at one by one
CSV_FIELDS = (
    "id foi rank thread index enter_ns duration_ns vertices messages score verdict label why usual_ns"
    " lost_ns tracer_ns cost_ns cost_is_bound off_ns open_ns"
).split()


class Failed(Exception):
    """A command of snag that ended otherwise than it should."""


class Audit:
    """One run, what snag says of it, and the contradictions found."""

    def __init__(self, snag, path, name):
        self.snag, self.path, self.name = snag, path, name
        self.found = []  # [(check, text)]
        self.run = Run(path)
        self.n_checks = 0
        self.show_cache = {}  # what was shown so far, by id

    def claim(self, check, holds, *what):
        self.n_checks += 1
        if not holds:
            self.found.append((check, " ".join(str(w) for w in what)))

    def ask(self, *args, status=(0, 3)):
        command = [self.snag, args[0], self.path, *args[1:], "--quiet"]
        done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT)
        if done.returncode not in status:
            raise Failed(f"{' '.join(command)}: status {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def lines(self, *args):
        return [json.loads(line) for line in self.ask(*args).splitlines()]

    def show(self, x):
        if x["id"] not in self.show_cache:
            self.show_cache[x["id"]] = json.loads(self.ask("show", x["id"], "--json"))
        return self.show_cache[x["id"]]

    def check(self, analyzed=None):
        for foi in self.run.fois():
            try:
                OfFunction(self, foi, (analyzed or {}).get(foi["name"])).check()
            except Failed as failed:
                self.claim("command", False, failed)
        if self.run.meta["n_calls"] and int(self.run.meta["n_calls"]) <= MAX_CALLS:
            self.check_calls()

    def check_calls(self):
        """The exported calls are those of the columns, and fit into each other."""
        rows = list(csv.DictReader(io.StringIO(self.ask("export", "--what", "calls", "--format", "csv"))))
        text = self.ask("export", "--what", "calls", "--format", "json").splitlines()
        self.claim("calls", len(rows) == len(text) == len(self.run.enter), "rows", len(rows), len(text))
        at = {(loc["rank"], loc["thread"]): part["first"] for loc, part in zip(self.run.locations, self.run.part)}
        inside = defaultdict(int)
        for row, line in zip(rows, text):
            first = at[int(row["rank"]), int(row["thread"])]
            i, j = first + int(row["call"]), json.loads(line)
            region = self.run.regions[self.run.region[i]]["name"]
            want = [str(self.run.depth[i]), region, str(self.run.enter[i]), str(self.run.inclusive[i])]
            got = [row["depth"], row["region"], row["enter_ns"], row["inclusive_ns"]]
            self.claim("calls", got == want, "columns", i, got, want)
            j["parent"] = -1 if j["parent"] is None else j["parent"]
            self.claim("calls", all(str(j[k]) == row[k] for k in row), "csv and json", row, j)
            if int(row["parent"]) >= 0:
                p = first + int(row["parent"])
                inside[p] += self.run.inclusive[i]
                fits = p < i < p + self.run.length[p] and self.run.depth[p] + 1 == self.run.depth[i]
                self.claim("calls", fits, "parent", row)
        for k, row in enumerate(rows):
            i = at[int(row["rank"]), int(row["thread"])] + int(row["call"])
            want = self.run.inclusive[i] - inside[i]
            self.claim("calls", int(row["exclusive_ns"]) == want, "exclusive", row, want)


class OfFunction(Shown, Costs):
    """What is said of the executions of one function of interest."""

    def __init__(self, audit, foi, analyzed):
        self.a, self.run, self.foi, self.analyzed = audit, audit.run, foi, analyzed
        self.claim, self.show = audit.claim, audit.show
        self.rows = {(r["rank"], r["thread"], r["idx"]): r for r in self.run.executions(foi["id"])}
        self.run_ns = int(self.run.meta["end_ns"]) - int(self.run.meta["begin_ns"])

    def check(self):
        self.listed = self.a.lines("list", "--foi", self.foi["name"], "--executions", "--all", "--json")
        self.listed = [x for x in self.listed if x["foi"] == self.foi["name"]]
        self.by_id = {x["id"]: x for x in self.listed}
        self.n = len(self.listed)
        self.is_few = self.n < 10
        self.incidents = [
            i for i in self.a.lines("list", "--incidents", "--all", "--json") if i["foi"] == self.foi["name"]
        ]
        self.incident_of = {m: i for i in self.incidents for m in i["members"]}
        self.anomalies = [x for x in self.listed if x["verdict"] == "anomaly"]
        self.check_executions()
        self.check_lists()
        self.check_exports()
        self.check_totals()
        self.check_incidents()
        for x in self.listed:
            self.check_sentence(x, x["why"])
        for x in self.chosen():
            self.check_show(x)
            self.check_text(x)
            self.check_cost_by_what_if(x)
        self.check_nobody()
        self.check_what_if()
        self.check_ranks()
        self.check_replay()

    def chosen(self):
        """Executions of all kinds, not too many."""
        by_cost = sorted(self.listed, key=lambda x: -(x["cost_ns"] or 0))[:2]
        some = self.anomalies[:6] + self.listed[:2] + by_cost
        some += [self.listed[self.n // 3], self.listed[self.n // 2], self.listed[-1]]
        some += [x for x in self.listed if x["cost_is_bound"]][:2]
        some += [x for x in self.listed if "the run ends no later" in x["why"]][:2]
        some += [x for x in self.listed if x["lost_ns"] and x["verdict"] == "normal"][:2]
        some += [x for x in self.listed if not x["lost_ns"] and own_ns(x) > LONGER * x["usual_ns"]][:1]
        return list({x["id"]: x for x in some}.values())[:MAX_SHOWN]

    # ------------------------------------------------------------------------- executions

    def check_executions(self):
        messages = self.messages_of_calls()
        name_of = lambda r: ("" if r["thread"] == 0 else f".{r['thread']}") + f"-{r['idx']}"
        self.claim("counts", self.n == len(self.rows) == self.foi["trees"], "executions", self.n)
        for x in self.listed:
            r = self.rows.get((x["rank"], x["thread"], x["index"]))
            self.claim("executions", r is not None, x["id"], "is not in run.db")
            if r is None:
                continue
            self.claim("executions", x["id"].endswith(f"#{r['rank']}{name_of(r)}"), "id", x["id"])
            location = r["location"]
            row, end = self.run.rows(location, r["call"])
            self.claim("duration", x["enter_ns"] == self.run.enter[row], x["id"], "enter", x["enter_ns"])
            self.claim(
                "duration", x["duration_ns"] == self.run.inclusive[row], x["id"], x["duration_ns"], self.run.inclusive[row]
            )
            self.claim("counts", x["vertices"] == end - row, x["id"], "calls", x["vertices"], end - row)
            if messages is not None:
                calls = messages[location]
                n = bisect.bisect_left(calls, r["call"] + end - row) - bisect.bisect_left(calls, r["call"])
                self.claim("counts", x["messages"] == n, x["id"], "messages", x["messages"], n)
            self.check_loss(x)

    def messages_of_calls(self):
        """[location] calls around its messages, in order; None where there are too many."""
        if int(self.run.meta["n_sends"]) + int(self.run.meta["n_recvs"]) > 400000:
            return None
        all_ = self.run.messages()
        part = [(p["first_message"], p["first_message"] + p["n_messages"]) for p in self.run.part]
        return [sorted(m[4] for m in all_[a:b] if m[4] != NONE32) for a, b in part]

    def check_loss(self, x):
        own, p = own_ns(x), x["false_alarm_probability"]
        self.claim("lost", x["usual_ns"] >= 0 and 0 <= x["tracer_ns"] <= x["duration_ns"], x["id"], "signs")
        self.claim(
            "lost", x["lost_ns"] in (0, own - x["usual_ns"]), x["id"], "lost", x["lost_ns"], "took", own, "usual", x["usual_ns"]
        )
        self.claim("lost", x["lost_ns"] >= 0, x["id"], "lost", x["lost_ns"])
        self.claim("chance", 0 <= p <= 1, x["id"], "p", p)
        self.claim("chance", x["verdict"] in ("anomaly", "normal"), x["id"], x["verdict"])
        cost = x["cost_ns"]
        self.claim("cost", cost is not None or not x["cost_is_bound"], x["id"], "a bound of nothing")
        if cost is not None:
            self.claim("cost", cost <= max(x["lost_ns"], 0) + 1, x["id"], "cost", cost, "lost", x["lost_ns"])
            self.claim("cost", cost <= self.run_ns, x["id"], "cost", cost)

    def check_lists(self):
        """The orders of lists, and that they are of the same executions."""
        key = {
            "score": lambda x: -x["score"],
            "lost": lambda x: -x["lost_ns"],
            "cost": lambda x: (
                not ((x["cost_ns"] or 0) > 0 and not x["cost_is_bound"]),
                -(x["cost_ns"] if x["cost_ns"] is not None else -1),
            ),
        }
        foi = ["--foi", self.foi["name"], "--executions", "--json"]
        for by, order in key.items():
            got = self.a.lines("list", *foi, "--all", "--by", by)
            keys = [order(x) for x in got]
            self.claim("order", keys == sorted(keys), "list --by", by, "is not in that order")
            self.claim("order", sorted(x["id"] for x in got) == sorted(self.by_id), "list --by", by, "has others")
            for x in got:
                self.claim("same", x == self.by_id.get(x["id"]), "list --by", by, x["id"], x, self.by_id.get(x["id"]))
        for verdict in ("anomaly", "normal"):
            got = [x["id"] for x in self.a.lines("list", *foi, "--all", "--verdict", verdict)]
            want = [x["id"] for x in self.listed if x["verdict"] == verdict]
            self.claim("order", got == want, "list --verdict", verdict)
        rank = self.listed[-1]["rank"]
        got = [x["id"] for x in self.a.lines("list", *foi, "--top", "3", "--rank", str(rank))]
        self.claim("order", got == [x["id"] for x in self.listed if x["rank"] == rank][:3], "list --rank", rank)

    def check_exports(self):
        """One execution has the same numbers in CSV, JSON, run.db and the list."""
        foi = ["--foi", self.foi["name"]]
        as_csv = list(csv.DictReader(io.StringIO(self.a.ask("export", *foi, "--format", "csv"))))
        as_json = [json.loads(line) for line in self.a.ask("export", *foi, "--format", "json").splitlines()]
        anomalies = list(csv.DictReader(io.StringIO(self.a.ask("export", *foi, "--what", "anomalies", "--format", "csv"))))
        in_order = [x["id"] for x in sorted(self.listed, key=lambda x: self.tree_of(x))]
        self.claim("order", [x["id"] for x in as_json] == in_order, "export has another order than the run")
        self.claim("order", [x["id"] for x in as_csv] == in_order, "export csv has another order than the run")
        want = [i for i in in_order if self.by_id[i]["verdict"] == "anomaly"]
        self.claim("counts", [x["id"] for x in anomalies] == want, "exported anomalies", len(anomalies), len(want))
        for x in as_json:
            self.claim("same", x == self.by_id.get(x["id"]), "export json", x, self.by_id.get(x["id"]))
        for row in as_csv + anomalies:
            x = self.by_id[row["id"]]
            self.claim("same", list(row) == CSV_FIELDS, "columns", list(row))
            for field in CSV_FIELDS:
                self.claim("same", same_in_csv(row.get(field), x[field]), x["id"], "csv", field, row.get(field), x[field])
        for x in self.listed:
            r = self.rows[x["rank"], x["thread"], x["index"]]
            for field in ("enter_ns duration_ns usual_ns lost_ns tracer_ns cost_ns off_ns open_ns vertices messages verdict").split():
                self.claim("same", x[field] == r[field], x["id"], "run.db", field, x[field], r[field])

    def tree_of(self, x):
        return self.rows[x["rank"], x["thread"], x["index"]]["tree"]

    def check_totals(self):
        t = self.analyzed
        foi = self.foi
        self.claim("sums", foi["vertices"] == sum(x["vertices"] for x in self.listed), "calls", foi["vertices"])
        self.claim("sums", foi["messages"] == sum(x["messages"] for x in self.listed), "messages", foi["messages"])
        if t is None:
            return
        for field, want in {
            "trees": self.n,
            "vertices": foi["vertices"],
            "messages": foi["messages"],
            "max_depth": foi["max_depth"],
            "anomalies": len(self.anomalies),
            "lost_ns": None if t["is_few"] else sum(x["lost_ns"] for x in self.listed),
            "tracer_ns": sum(x["tracer_ns"] for x in self.listed),
            "anomalies_cost_ns": foi["anomalies_cost_ns"],
            "anomalies_carrying": foi["anomalies_carrying"],
        }.items():
            self.claim("sums", t[field] == want, "analyze", field, t[field], want)
        by_rank = defaultdict(lambda: [0, 0, 0, 0])
        for x in self.listed:
            for i, v in enumerate((1, x["duration_ns"], x["lost_ns"], x["tracer_ns"])):
                by_rank[x["rank"]][i] = None if i == 2 and t["is_few"] else by_rank[x["rank"]][i] + v
        got = {r["rank"]: [r["executions"], r["duration_ns"], r["lost_ns"], r["tracer_ns"]] for r in t["lost_by_rank"]}
        self.claim("sums", got == dict(by_rank), "lost_by_rank", got, dict(by_rank))
        self.claim("lost", t["is_few"] <= (sum(x["lost_ns"] for x in self.listed) == 0), "few, and something is lost")
        lost = [-(r["lost_ns"] or 0) for r in t["lost_by_rank"]]
        self.claim("order", lost == sorted(lost), "lost_by_rank")
        for x, y in zip(t["candidates"], self.listed):
            self.claim("same", x == y, "candidate", x, y)
        if t["anomalies_carrying"] is not None:
            self.claim("counts", t["anomalies_carrying"] <= len(self.anomalies), "anomalies_carrying")

    # -------------------------------------------------------------------------- incidents

    def check_incidents(self):
        stored = {
            r["id"]: r for r in self.run.db.execute(
                "SELECT *, EXISTS (SELECT 1 FROM outside o WHERE o.foi = i.foi AND o.incident = i.id) AS is_outside "
                "FROM incident i WHERE foi = ?", (self.foi["id"],))
        }
        last, seen = None, set()
        for i in self.incidents:
            members = [self.by_id[m] for m in i["members"]]
            name = f"incident {i['id']}"
            s = stored.get(i["id"])
            self.claim("incident", s is not None or i["id"] is None, name, "is not in run.db")
            self.claim("incident", members and not seen & set(i["members"]), name, "has members of another")
            seen |= set(i["members"])
            anomaly = any(m["verdict"] == "anomaly" for m in members)
            self.claim("incident", (i["verdict"] == "anomaly") == anomaly, name, i["verdict"])
            lost = sum(m["lost_ns"] for m in members)
            self.claim("incident lost", i["lost_ns"] == lost, name, "lost", i["lost_ns"], "members", lost)
            if i["turns"] == 1:
                begin = min(m["enter_ns"] for m in members)
                end = max(m["enter_ns"] + m["duration_ns"] for m in members)
                self.claim("incident", (i["begin_ns"], i["end_ns"]) == (begin, end), name, "begin, end", i["begin_ns"], i["end_ns"], begin, end)
            self.claim("incident", i["ranks"] == sorted({m["rank"] for m in members}), name, "ranks", i["ranks"])
            self.claim("incident", i["head"] in i["members"], name, "head", i["head"])
            trees = [self.tree_of(m) for m in members]
            self.claim("incident", i["member_trees"] == trees, name, "member_trees")
            head = self.by_id[i["head"]]
            self.claim("incident", i["head_tree"] == self.tree_of(head), name, "head_tree")
            self.claim("incident", not s or s["executions"] == len(members), name, "executions")
            self.check_incident_sentence(i, head, name)
            self.check_incident_score(i, members, name)
            cost = i["cost_ns"]
            if cost is not None:
                self.claim("incident cost", 0 <= cost <= lost + len(members), name, "cost", cost, "lost", lost)
                for m in members:
                    if m["cost_ns"] is not None and not m["cost_is_bound"]:
                        self.claim("incident cost", cost >= m["cost_ns"] - 2, name, "cost", cost, "of", m["id"], m["cost_ns"])
                        # what it waited for in no execution costs the incident, not the execution
                        if len(members) == 1 and (not s or not s["is_outside"]):
                            self.claim("incident cost", cost == m["cost_ns"], name, cost, m["cost_ns"])
            self.check_incident_range(i, lost + len(members), name)
            matters = anomaly or bool(s and s["is_costly"])
            order = (not matters, -i["lost_ns"] / i["turns"], -i["score"])
            self.claim("order", last is None or last <= order, name, "comes too late")
            last = order
        ids = [i["id"] for i in self.incidents if i["id"]]
        self.claim("order", sorted(ids) == list(range(1, len(ids) + 1)), "numbers of incidents", ids)
        lone = [x["id"] for x in self.anomalies if x["id"] not in self.incident_of]
        self.claim("incident", not lone, "anomalies in no incident", lone)

    def check_incident_range(self, i, lost, name):
        """What its cause cost alone, what all of it cost at most, and the same in words."""
        least, most, said_range = i["cost_least_ns"], i["cost_most_ns"], dict(said.clauses(i["why"])).get("range")
        self.claim("incident cost", (least is None) == (most is None), name, "range", least, most)
        if most is None:
            self.claim("incident cost", i["cost_ns"] is None and not said_range, name, "is known", i["cost_ns"], i["why"])
            return
        self.claim("incident cost", 0 <= least <= most <= lost, name, "range", least, most, "lost", lost)
        self.claim("incident cost", i["cost_ns"] in (None, most), name, "cost", i["cost_ns"], "at most", most)
        if said_range:
            holds = (least == 0 if said_range["least"] == "not" else said.says(said_range["least"], least)) and said.says(said_range["most"], most)
            self.claim("incident cost", holds and least < 0.9 * most, name, least, most, "|", i["why"])

    def check_incident_sentence(self, i, head, name):
        """It is its head's; of chance it says nothing where the head is none itself."""
        why = re.sub(r"^in every \d+(?:st|nd|rd|th) execution there, [\d,]+ times; the longest: ", "", i["why"])
        drop = {"rarest", "rare", "common", "slight"} if i["verdict"] == "anomaly" and head["verdict"] == "normal" else set()
        drop |= {"together", "ended_later", "nobody", "though", "only_waited", "cost_unknown", "ended_at_most", "range"}
        said_of = lambda text: [
            m if n is None else m.group() for n, m in said.clauses(text) if n not in drop
        ]
        self.claim("incident sentence", said_of(why) == said_of(head["why"]), name, why, "| its head:", head["why"])
        names = [n for n, _ in said.clauses(why)]
        self.claim("sentence", None not in names, name, "says what is not known to be said:", why)
        if i["verdict"] == "anomaly":
            self.claim("sentence", not {"usual", "common", "slight"} & set(names), name, "is an anomaly:", why)

    def check_incident_score(self, i, members, name):
        """Fisher's method over locations (algorithms.md, section 14)."""
        best = defaultdict(float)
        for m in members:
            place = (m["rank"], m["thread"])
            best[place] = max(best[place], m["score"])
        total, k = sum(best.values()), len(best)
        # log P(Gamma(k) >= total) = log sum over j < k of total^j / j! - total
        terms = [j * math.log(total) - math.lgamma(j + 1) if total > 0 or j == 0 else -math.inf for j in range(k)] if total > 0 else [0.0]
        top = max(terms)
        want = total - top - math.log(sum(math.exp(t - top) for t in terms))
        self.claim("incident score", i["id"] is None or math.isclose(i["score"], want, rel_tol=1e-6, abs_tol=1e-6), name, i["score"], want)

def same_in_csv(text, value):
    if value is None:
        return text == ""
    if isinstance(value, bool):
        return text == str(int(value))
    if isinstance(value, float):
        return math.isclose(float(text), value, rel_tol=1e-8, abs_tol=1e-9)
    return text == str(value)


# ---------------------------------------------------------------------------------- compare


def check_compare(snag, before, after, claim):
    """Two audited runs with one function of interest: sums, means and shares."""
    command = [snag, "compare", before.path, after.path, "--all", "--quiet"]
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, env=ENVIRONMENT)
    if done.returncode:
        claim("compare", False, " ".join(command), done.stderr)
        return
    c = json.loads(done.stdout)
    near = lambda got, want, of=0: abs(got - want) <= 1 + 1e-6 * abs(want) + of
    sides = []
    for a in (before, after):
        rows = a.run.executions(a.run.fois()[0]["id"])
        paths, own_calls = defaultdict(lambda: [0, 0, 0]), defaultdict(lambda: [0, 0])
        for r in rows:
            for path, (calls, ns) in a.run.paths_of(r["location"], r["call"])[0].items():
                for i, v in enumerate((ns, calls, 1)):
                    paths[" > ".join(path)][i] += v
        sides.append((rows, paths))
    for i, (rows, paths) in enumerate(sides):
        own = [r["duration_ns"] - r["tracer_ns"] for r in rows]
        claim("compare", c["executions"][i] == len(rows), "executions", c["executions"], len(rows))
        claim("compare", near(c["total_ns"][i], sum(own)), "total", c["total_ns"], sum(own))
        claim("compare", near(c["duration_ns"]["mean"][i], sum(own) / len(own)), "mean", c["duration_ns"]["mean"])
        own.sort()
        around = own[max(len(own) // 2 - 1, 0)], own[min(len(own) // 2 + 1, len(own) - 1)]
        claim("compare", around[0] - 1 <= c["duration_ns"]["median"][i] <= around[1] + 1, "median", c["duration_ns"]["median"], around)
        for p in c["paths"]:
            names = p["from"] if i == 0 and p["from"] else p["path"]
            want = paths.get(names, [0, 0, 0])
            claim("compare", near(p["time_ns"][i], want[0] / len(rows)), p["path"], "time", p["time_ns"], want[0] / len(rows))
            claim("compare", math.isclose(p["calls"][i], want[1] / len(rows), rel_tol=1e-6, abs_tol=1e-9), p["path"], "calls", p["calls"])
            claim("compare", math.isclose(p["executions"][i], want[2] / len(rows), rel_tol=1e-6, abs_tol=1e-9), p["path"], "executions", p["executions"])
        claim("compare", math.isclose(sum(k["executions"][i] for k in c["kinds"]), 1, rel_tol=1e-6), "kinds", [k["executions"] for k in c["kinds"]])
        if c["run_ns"]:
            run = (before, after)[i].run.meta
            claim("compare", near(c["run_ns"][i], int(run["end_ns"]) - int(run["begin_ns"])), "run_ns", c["run_ns"])
    mean = [sum(r["duration_ns"] - r["tracer_ns"] for r in rows) / len(rows) for rows, _ in sides]
    claim("compare", math.isclose(c["change"], mean[1] / mean[0] - 1, rel_tol=1e-5, abs_tol=1e-7), "change", c["change"], mean[1] / mean[0] - 1)
    n = len(c["paths"])
    claim("compare", abs(sum(p["change_ns"] for p in c["paths"]) - (mean[1] - mean[0])) <= 1 + n, "paths add up to", sum(p["change_ns"] for p in c["paths"]), mean[1] - mean[0])
    for p in c["paths"]:
        claim("compare", abs(p["change_ns"] - (p["time_ns"][1] - p["time_ns"][0])) <= 1.5, p["path"], "change", p["change_ns"], p["time_ns"])
        if p["share"] is not None and abs(mean[1] - mean[0]) > 100:
            claim("compare", abs(p["share"] - p["change_ns"] / (mean[1] - mean[0])) <= 2 / abs(mean[1] - mean[0]) + 1e-6 * abs(p["share"]), p["path"], "share", p["share"])
    if c["interval"]:
        claim("compare", c["interval"][0] <= c["change"] <= c["interval"][1], "interval", c["interval"], c["change"])
    m = re.match(r"([+-][\d.]+) %", c["headline"])
    claim("compare", m is not None and abs(float(m[1]) - 100 * c["change"]) <= 0.051, "headline", c["headline"], c["change"])
    verdict = {"unsure": "inconclusive"}.get(c["verdict"], c["verdict"])
    claim("compare", verdict in c["headline"], "headline", c["headline"], verdict)


# ------------------------------------------------------------------------------------- main

ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith("SNAG_")} | {"LC_ALL": "C.UTF-8", "NO_COLOR": "1", "COLUMNS": "10000"}


def audit_trace(snag, trace, foi, work, name=None):
    """Analyses a trace and checks what is said of it. Returns the audit; the caller removes it."""
    path = tempfile.mkdtemp(dir=work) + "/run.snag"
    command = [snag, "analyze", *([trace] if isinstance(trace, str) else trace), "-o", path, "--json", "--quiet"]
    done = subprocess.run(command + (["--foi", foi] if foi else []), capture_output=True, text=True, env=ENVIRONMENT)
    if done.returncode not in (0, 3):
        raise Failed(f"{' '.join(command)}: status {done.returncode}: {done.stderr.strip()}")
    analyzed = {t["foi"]: t for t in map(json.loads, done.stdout.splitlines())}
    audit = Audit(snag, path, name or str(trace))
    audit.check(analyzed)
    return audit


def report(audit, counts, most=6):
    """Prints the contradictions of one run: the first few of each check."""
    shown = defaultdict(int)
    for check, text in audit.found:
        counts[check] += 1
        shown[check] += 1
        if shown[check] <= most:
            print(f"{check}: {audit.name}: {text[:1500]}")
    for check, n in shown.items():
        if n > most:
            print(f"{check}: {audit.name}: and {n - most} more")
    sys.stdout.flush()


def arguments(instead, programs_by_default):
    """What an auditor is called with: programs made at random, traces, or, instead, what is there."""
    parser = argparse.ArgumentParser()
    parser.add_argument("snag")
    parser.add_argument("what", choices=("synth", "traces", instead))
    parser.add_argument("traces", nargs="*")
    parser.add_argument("--foi")
    parser.add_argument("--programs", type=int, default=programs_by_default)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=3, help="contradictions of a kind printed of each")
    args = parser.parse_args()
    args.snag = os.path.abspath(args.snag)
    return args


def audit_all(args, audit_one, nouns):
    """Calls audit_one(number, trace, foi, work) for all that was asked for; returns the exit status. work: a directory,
    removed in the end. What audit_one cannot look at it returns None of; what fails counts."""
    work, counts, n_checks, n_audited = tempfile.mkdtemp(), defaultdict(int), 0, 0
    jobs = [(t, args.foi) for t in args.traces]
    if args.what == "synth":
        jobs = [programs.program(i, args.seed) for i in range(args.first, args.first + args.programs)]
    try:
        for k, (trace, foi) in enumerate(jobs):
            try:
                audit = audit_one(k, trace, foi, work)
            except Failed as failed:
                counts["command"] += 1
                print(f"failed: {trace}: {failed}")
                continue
            if audit is None:
                continue
            report(audit, counts, args.most)
            n_checks += audit.n_checks
            n_audited += 1
    finally:
        shutil.rmtree(work)
    print(f"{n_audited} {nouns}, {n_checks:,} checks, {sum(counts.values())} contradictions", dict(counts) or "")
    return 1 if counts or n_audited == 0 else 0


def main():
    args, before = arguments("run", 60), None

    def audit_one(k, trace, foi, work):
        nonlocal before
        if args.what == "run":
            audit = Audit(args.snag, trace, trace)
            audit.check()
            return audit
        try:
            audit = audit_trace(args.snag, trace, foi, work)
        except Failed as failed:
            print(f"not analysed: {failed}")
            return None
        if before:
            if args.what == "synth" and k % 5 == 1:
                check_compare(args.snag, before, audit, audit.claim)
            shutil.rmtree(os.path.dirname(before.path))
        before = audit
        return audit

    return audit_all(args, audit_one, "runs")


if __name__ == "__main__":
    sys.exit(main())
