"""What snag says who waited, what that cost, who is slow: `what-if`, `ranks`, costs of executions and
incidents, against each other and against a replay of our own."""
import json
import math
import re
from collections import defaultdict

import said
from played import MAX_CALLS, NotExact, Replay, own_ns

MAX_ANOMALIES = 25  # whose cost together is played
MAX_SYNCS = 20000  # messages and collectives of a run that is played
SURE_Z = 14  # widths: of such a call the excess counts in full, to a thousandth
NEARLY = 0.02  # of what was lost: so much may be elsewhere than where it is cut
WORDS = {"usual": "typical", "unsure": "inconclusive"}  # of verdicts, to people
WAITED = 0.1  # of what was lost: who waited so much less is named (algorithms.md, section 16)


class Costs:
    """The part of audit.OfFunction that looks at waits and costs."""

    # ------------------------------------------------------------------------ cost, what-if

    def what_if(self, *without):
        args = [a for w in without for a in ("--without", w)]
        return json.loads(self.a.ask("what-if", *args, "--foi", self.foi["name"], "--json"))

    def check_cost_by_what_if(self, x):
        """The cost of an execution is what is saved without what it lost; those named waited less."""
        if x["cost_ns"] is None or not x["lost_ns"]:
            return
        w = self.what_if(x["id"])
        self.claim("what-if", w["excess_ns"] <= x["lost_ns"] + 2 and w["cut_ns"] <= x["lost_ns"] + x["vertices"], x["id"], "excess", w["excess_ns"], w["cut_ns"], x["lost_ns"])
        self.claim("what-if", abs(w["excess_ns"] - x["lost_ns"]) <= 2 or x["lost_ns"] > sum(max(p["excess_ns"], 0) for p in self.show(x)["paths"]), x["id"], "excess", w["excess_ns"], "lost", x["lost_ns"])
        self.claim("what-if", w["executions"] == 1, x["id"], "executions", w["executions"])
        if w["saved_ns"] is None:
            self.claim("what-if", x["cost_is_bound"], x["id"], "cost", x["cost_ns"], "what-if knows nothing")
            return
        slack = 2 + x["vertices"]  # what is cut is rounded call by call
        if x["cost_is_bound"]:
            self.claim("what-if", w["saved_ns"] <= x["cost_ns"] + slack, x["id"], "costs at most", x["cost_ns"], "saved", w["saved_ns"])
        else:
            self.claim("what-if", abs(w["saved_ns"] - x["cost_ns"]) <= slack, x["id"], "cost", x["cost_ns"], "saved", w["saved_ns"])
        # who waits less in all, did wait less somewhere; others may wait for another then
        names = dict(said.clauses(x["why"]))
        less = {v["rank"]: v["before_ns"] - v["after_ns"] for v in w["waits"]}
        want = {rank for rank, ns in less.items() if ns > WAITED * x["lost_ns"]}
        if {"ended_later", "though", "nobody"} & set(names) and all(loc["thread"] == 0 for loc in self.run.locations):
            named, more = self.waiters_named(names)
            self.claim("waited", len(named) + more >= len(want) and (more or want <= set(named)), x["id"], "named", named, more, "waited less", less, "|", x["why"])

    def waiters_named(self, names):
        clause = names.get("ended_later") or names.get("though")
        named, more = said.ranks_named(clause["who"]) if clause and clause["who"] else ([], 0)
        return [rank for rank, _ in named], more

    def check_what_if(self):
        """The run played unchanged; without all anomalies; without the members of incidents."""
        w = json.loads(self.a.ask("what-if", "--json"))
        self.claim("what-if", w["run_ns"] == self.run_ns, "run_ns", w["run_ns"], self.run_ns)
        ends = int(self.run.meta["n_sends"]) + int(self.run.meta["n_recvs"])
        self.claim("what-if", w["matched"] <= w["ends_of_messages"] <= ends, "ends", w["ends_of_messages"], ends)
        messages = self.run.messages() if ends <= 400000 else None
        if messages is not None and w["ends_of_messages"] == ends:
            matched = sum(m[3] != 2**64 - 1 for m in messages)
            self.claim("what-if", w["matched"] == matched, "matched", w["matched"], matched)
        late = w["late_senders"]
        worst = [v["wait_ns"] for v in late["worst"]]
        self.claim("what-if", worst == sorted(worst, reverse=True) and sum(worst) <= late["sum_ns"], "late_senders", late["sum_ns"])
        self.claim("what-if", len(worst) == min(20, late["count"]), "late_senders", late["count"], len(worst))
        if not self.anomalies:
            return
        w = self.what_if("anomalies")
        all_of_them = self.with_incidents()
        n, lost = len(all_of_them), sum(x["lost_ns"] for x in all_of_them)
        self.claim("what-if", w["executions"] == n, "anomalies", w["executions"], n)
        self.claim("what-if", w["excess_ns"] <= lost + 2 * n, "excess of anomalies", w["excess_ns"], lost)
        if w["saved_ns"] is not None:
            self.check_what_if_text(w, self.a.ask("what-if", "--without", "anomalies", "--foi", self.foi["name"], "--all"))
            self.claim("what-if", w["saved_ns"] == w["replay_ns"] - w["without_ns"], "saved", w["saved_ns"])
            if self.foi["anomalies_cost_ns"] is not None:
                self.claim("what-if", abs(w["saved_ns"] - self.foi["anomalies_cost_ns"]) <= 2 + sum(x["vertices"] for x in all_of_them), "anomalies cost", self.foi["anomalies_cost_ns"], "saved", w["saved_ns"])
        for i in self.incidents[:4]:
            if i["cost_ns"] is None or len(i["members"]) > 64:
                continue
            w = self.what_if(*([f"incident={i['id']}"] if i["id"] else i["members"]))
            if w["saved_ns"] is not None:
                slack = 2 + sum(self.by_id[m]["vertices"] for m in i["members"])
                self.claim("incident cost", abs(w["saved_ns"] - i["cost_ns"]) <= slack, f"incident {i['id']}", "cost", i["cost_ns"], "saved", w["saved_ns"])

    def with_incidents(self):
        """Anomalies, and what is none in their incidents: what it cost is all of these together."""
        anomalies = {x["id"] for x in self.anomalies}
        members = {m for i in self.incidents if anomalies & set(i["members"]) for m in i["members"]}
        return [self.by_id[x] for x in sorted(anomalies | members)]

    def check_what_if_text(self, w, text):
        """The same numbers in words, and what they are in percent."""
        percent = lambda part: 100 * part / w["replay_ns"] if w["replay_ns"] else 0
        m = re.search(rf"the run took ({said.TIME}); the replay with nothing taken out takes ({said.TIME})", text)
        self.claim("text", m and said.says(m[1], w["run_ns"]) and said.says(m[2], w["replay_ns"]), "what-if", text)
        m = re.search(
            rf"([\d,]+) executions? took ({said.TIME}) more than typical "
            rf"\((all|-?{said.TIME}) (of it own work|of it own work, the rest waiting|more of own work, and less waiting)\). "
            rf"Without that own work(?:, and without (?P<outside>{said.TIME}) of what they waited for in no execution,)? the replayed run takes (?:at least )?(?P<takes>{said.TIME}), "
            rf"(?P<less>{said.TIME}) (?P<way>shorter|longer) \((?P<percent>[\d.e+-]+) %\)",
            text,
        )
        holds = m and said.count_of(m[1]) == w["executions"] and (m["way"] == "longer") == (w["saved_ns"] < 0)
        for k, ns in ((2, w["excess_ns"]), ("takes", w["without_ns"]), ("less", abs(w["saved_ns"]))):
            holds = holds and said.says(m[k], ns)
        holds = holds and said.says(m[2] if m[3] == "all" else m[3], w["cut_ns"])
        holds = holds and (said.says(m["outside"], w["outside_ns"]) if m["outside"] else w["outside_ns"] == 0)
        holds = holds and ("rest" not in m[4] or w["cut_ns"] <= w["excess_ns"])
        holds = holds and ("less" not in m[4] or w["cut_ns"] >= w["excess_ns"])
        holds = holds and math.isclose(float(m["percent"]), abs(percent(w["saved_ns"])), rel_tol=0.0051, abs_tol=1e-9)
        self.claim("text", holds, "what-if", text, w)
        for v in w["waits"]:
            m = re.search(rf"^ *{v['rank']}  +({said.TIME}) +({said.TIME})(?: +({said.TIME}))?$", text, re.M)
            less = v["before_ns"] - v["after_ns"]
            holds = m and said.says(m[1], v["before_ns"]) and said.says(m[2], v["after_ns"])
            self.claim("text", not m or holds and (not m[3] or said.says(m[3], abs(less))), "what-if", m and m[0], v)

    def check_nobody(self):
        """Nobody says of whom it waited for that nobody waited for it."""
        for x in [self.by_id[i] for i in self.a.show_cache if i in self.by_id]:
            links = self.show(x)["cause"]
            if len(links) < 2 or not x["lost_ns"]:
                continue
            end, wait = links[-1], links[-2]
            for y in self.listed:
                if (y["rank"], y["thread"]) != (end["rank"], end["thread"]) or y["id"] == x["id"]:
                    continue
                if not y["enter_ns"] <= end["begin_ns"] < end["end_ns"] <= y["enter_ns"] + y["duration_ns"]:
                    continue
                names = dict(said.clauses(y["why"]))
                if "nobody" in names and "together" not in names:
                    much = min(end["explained_ns"], wait["delay_ns"], x["lost_ns"])
                    self.claim("nobody", much <= WAITED * y["lost_ns"], x["id"], "waited", much, "for", y["id"], "which says", y["why"], "|", x["why"])

    def check_replay(self):
        """Cost and waits against a replay of our own, where that is exact.

        What is cut of each call is not said, but lies between two bounds: a call that is late by
        SURE_Z widths loses its share of all that is more than usual, others nothing or all of it.
        """
        n_syncs = len(self.run.messages()) + len(self.run.collectives()) if int(self.run.meta["n_calls"]) < MAX_CALLS else MAX_SYNCS + 1
        if self.run.meta["source"] != "synth" or n_syncs > MAX_SYNCS or int(self.run.meta["order_wrong_before"]):
            return
        try:
            replay = Replay(self.run)
            w = json.loads(self.a.ask("what-if", "--json"))
            waits = replay.waits()
            for v in w["waits"]:
                self.claim("replay", v["before_ns"] == waits[v["rank"]], "rank", v["rank"], "waits", v["before_ns"], waits[v["rank"]])
            self.check_late_senders(w["late_senders"])
            for x in self.chosen():
                if x["lost_ns"] and x["cost_ns"] is not None:
                    self.check_between(replay, [x], x["cost_ns"], x["cost_is_bound"], x["id"])
            for i in self.incidents[:4]:
                if i["cost_ns"] is not None and len(i["members"]) <= MAX_ANOMALIES:
                    members = [self.by_id[m] for m in i["members"]]
                    self.check_between(replay, members, i["cost_ns"], False, f"incident {i['id']}")
            cost = self.foi["anomalies_cost_ns"]
            if cost is not None and 0 < len(self.anomalies) <= len(self.with_incidents()) <= MAX_ANOMALIES:
                self.check_between(replay, self.with_incidents(), cost, False, "all anomalies")
        except NotExact:
            pass

    def check_late_senders(self, late):
        """Receives that were entered before the call that sent their message."""
        messages, part = self.run.messages(), self.run.part
        of = [l for l, p in enumerate(part) for _ in range(p["n_messages"])]
        entered = [self.run.enter[part[l]["first"] + m[4]] for l, m in zip(of, messages)]
        waits = [entered[m[3]] - at for m, at in zip(messages, entered) if m[9] == 1 and entered[m[3]] > at]
        self.claim("replay", late["count"] == len(waits), "late senders", late["count"], len(waits))
        self.claim("replay", late["sum_ns"] == sum(waits), "late senders", late["sum_ns"], sum(waits))

    def check_between(self, replay, executions, cost, is_bound, name):
        low, high, slack = {}, {}, 0
        for x in executions:
            if x["lost_ns"]:
                slack += self.cuts_of(x, low, high)
        least, waited_least = replay.play(low)
        most, waited_most = replay.play(high)
        lost = sum(x["lost_ns"] for x in executions)
        most = min(most + slack, lost + len(executions))
        off = 2 + len(executions)
        if len(executions) == 1:
            self.check_waiters(executions[0], waited_least, waited_most, slack + NEARLY * lost)
        if is_bound:
            self.claim("replay", cost >= least - off, name, "costs at most", cost, "of", lost, "played: at least", least)
        else:
            self.claim("replay", least - off <= cost <= most + off, name, "costs", cost, "of", lost, "played:", least, "to", most)

    def check_waiters(self, x, least, most, slack):
        """Those who waited for it are named, who waited longest first, and nobody else is."""
        names = dict(said.clauses(x["why"]))
        if not {"ended_later", "though", "nobody"} & set(names):
            return
        named, more = self.waiters_named(names)
        rank = lambda l: self.run.locations[l]["rank"]
        least, most = ({rank(l): f(least[l], most[l]) for l in least} for f in (min, max))
        surely = [r for r, ns in least.items() if ns > WAITED * x["lost_ns"] + slack]
        maybe = [r for r, ns in most.items() if ns > WAITED * x["lost_ns"] - slack]
        what = (x["id"], "named", named, more, "waited", least, "to", most, "|", x["why"])
        self.claim("waited", len(surely) <= len(named) + more <= len(maybe) and set(named) <= set(maybe), *what)
        left = [least[r] for r in least if r not in named]
        in_order = all(most[a] >= least[b] - slack for a, b in zip(named, named[1:]))
        in_order &= not named or max(left, default=0) <= most[named[-1]] + slack
        self.claim("waited", in_order, *what)

    def cuts_of(self, x, low, high):
        """Adds the least and the most that may be cut of each row. Returns what may be cut in
        places that are not known."""
        r = self.rows[x["rank"], x["thread"], x["index"]]
        run, lost, slack = self.run, x["lost_ns"], 0
        paths = {tuple(p["path"]): p for p in self.show(x)["paths"]}
        more = sum(max(p["excess_ns"], 0) if p["calls"] == 1 else p["exclusive_ns"] for p in paths.values())
        row, end = run.rows(r["location"], r["call"])
        base, names = run.depth[row], []
        for at in range(row, end):
            names = names[: run.depth[at] - base] + [run.name[run.region[at]]]
            p = paths[tuple(names)]
            if run.kind[run.region[at]] == "mpi":
                slack += 2000  # what is no waiting of a message or a barrier
                continue
            own = run.inclusive[at] - sum(
                run.inclusive[k] for k in range(at + 1, at + run.length[at]) if run.depth[k] == run.depth[at] + 1
            )
            most = max(p["excess_ns"], 0) if p["calls"] == 1 else own
            if any(run.kind[run.region[k]] == "mpi" for k in range(at + 1, at + run.length[at])):
                slack += most
                continue
            high[at] = min(most, lost)
            if p["calls"] == 1 and p["largest_residual"] >= SURE_Z and p["excess_ns"] > 0:
                low[at] = 0.998 * min(lost * p["excess_ns"] / more, p["excess_ns"])
        return slack

    # ------------------------------------------------------------------------------ ranks

    def check_ranks(self):
        r = json.loads(self.a.ask("ranks", "--foi", self.foi["name"], "--json"))
        text = self.a.ask("ranks", "--foi", self.foi["name"], "--all")
        if r["by"] != "rank":
            return
        by_rank = defaultdict(list)
        for x in self.listed:
            by_rank[x["rank"]].append(x)
        slow = [p for p in r["places"] if p["verdict"] == "slow"]
        names = {p["place"] for p in r["places"]}
        for p in r["places"]:
            mine = by_rank[p["rank"]]
            self.claim("ranks", p["executions"] == len(mine), p["place"], "executions", p["executions"], len(mine))
            took = sum(own_ns(x) for x in mine)
            # without MPI, calls that are messages are nobody's own work (section 17)
            has_mpi = "mpi" in self.run.kind or not int(self.run.meta["n_sends"])
            if has_mpi and all(loc["thread"] == 0 for loc in self.run.locations):
                self.claim("ranks", abs(p["own_ns"] + p["wait_ns"] - took) <= 2 + len(mine), p["place"], "own and wait", p["own_ns"], p["wait_ns"], "took", took)
            self.claim("ranks", p["waits_for"] is None or p["waits_for"] in names - {p["place"]}, p["place"], "waits for", p["waits_for"])
            if p["verdict"] == "slow" and r["slowdown"] is not None and not r["operations"]:
                excess = sum(q["excess_ns"] for q in p["paths"] if q["is_sure"] and q["kind"] == "slower")
                if len(p["paths"]) == 1:
                    want = p["own_ns"] / (p["own_ns"] - excess)
                    room = 1e-6 * want + want / (p["own_ns"] - excess)  # both are rounded to ns
                    self.claim("ranks", abs(p["slowdown"] - want) <= room, p["place"], "slowdown", p["slowdown"], want)
            for q in p["paths"]:
                self.claim("ranks", 0 <= q["share"] <= 1 and q["excess_ns"] >= 0, p["place"], q)
            if p["cost_ns"] is not None:
                self.claim("ranks", 0 <= p["cost_ns"] <= self.run_ns, p["place"], "cost", p["cost_ns"])
            if p["cost_least_ns"] is not None:
                holds = 0 <= p["cost_least_ns"] <= p["cost_ns"] <= p["cost_most_ns"]
                self.claim("ranks", holds, p["place"], "cost", p["cost_least_ns"], p["cost_ns"], p["cost_most_ns"])
            m = re.search(rf"^{re.escape(p['place'])}\s+(\w+)\s+({said.TIME})\s+([\d.]+) %\s+([\d.]+) %(.*)$", text, re.M)
            self.claim("ranks", m is not None, p["place"], "is not in the table")
            if m:
                all_ns = max(p["own_ns"] + p["wait_ns"], 1)
                holds = m[1] == WORDS.get(p["verdict"], p["verdict"]) and said.says(m[2], p["own_ns"])
                holds &= abs(float(m[3]) - 100 * max(p["slowdown"] - 1, 0)) <= 0.051
                holds &= abs(float(m[4]) - 100 * p["wait_ns"] / all_ns) <= 0.051
                self.claim("ranks", holds, m[0], p)
                cost = re.search(rf"costs the run (?:([0-9.]+)( [num]?s)? to )?({said.TIME})", m[5])
                holds = bool(cost) == (p["cost_ns"] is not None)
                if cost and cost[1]:  # 9.08 to 12.1 ms, or 687 us to 1.20 ms
                    least = cost[1] + (cost[2] or " " + cost[3].split()[1])
                    holds &= said.says(least, p["cost_least_ns"]) and said.says(cost[3], p["cost_most_ns"])
                elif cost:
                    holds &= said.says(cost[3], p["cost_ns"])
                self.claim("ranks", holds, m[0], p["cost_least_ns"], p["cost_ns"], p["cost_most_ns"])
                for path in p["paths"][:3]:
                    self.claim("ranks", any(said.says(t, path["excess_ns"]) for t in said.times_in(m[5])), m[0], path)
        m = re.match(rf".*: ([\d,]+) executions on (\d+) ranks?: (.*)", text)
        self.claim("ranks", m is not None and said.count_of(m[1]) == self.n and int(m[2]) == len(r["places"]), "headline", text.splitlines()[0])
        counts = re.match(r"(\d+) slow, (\d+) imbalanced, (\d+) inconclusive, (\d+) that wait", m[3]) if m else None
        if counts:
            got = [int(c) for c in counts.groups()]
            want = [sum(p["verdict"] == v for p in r["places"]) for v in ("slow", "imbalanced", "unsure", "waits")]
            self.claim("ranks", got == want, "headline", got, want)
        if len(slow) == 1 and r["slowdown"] is not None and slow[0]["cost_ns"] is not None and not r["operations"]:
            want = self.run_ns / (self.run_ns - slow[0]["cost_ns"])
            self.claim("ranks", math.isclose(r["slowdown"], want, rel_tol=1e-6), "slowdown", r["slowdown"], want)
        if self.run.meta["source"] == "synth" and int(self.run.meta["n_calls"]) <= MAX_CALLS:
            waits = defaultdict(int)
            for x in self.listed:
                e = self.rows[x["rank"], x["thread"], x["index"]]
                for path, (_, ns) in self.run.paths_of(e["location"], e["call"])[0].items():
                    waits[x["rank"]] += ns if path[-1].startswith("MPI_") else 0
            for p in r["places"]:
                self.claim("ranks", abs(p["wait_ns"] - waits[p["rank"]]) <= 1 + p["executions"], p["place"], "wait", p["wait_ns"], waits[p["rank"]])
