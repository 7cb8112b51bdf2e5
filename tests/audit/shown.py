"""What snag says of one execution: its sentence, and what `show` prints and gives as JSON."""
import math
import re
import statistics
from collections import defaultdict

import said
from played import MAX_CALLS, own_ns

NO_COST = 0.01  # of what was lost: less ended the run no later
LONGER = 1.1  # times as long as a typical one is not typical (algorithms.md, section 9)


def numbers_in(value):
    """All numbers in a JSON value."""
    if isinstance(value, dict):
        for v in value.values():
            yield from numbers_in(v)
    elif isinstance(value, list):
        for v in value:
            yield from numbers_in(v)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield value


def same_paths(got, paths):
    if set(got) != set(paths):
        return False
    return all(got[p][0] == c and abs(got[p][1] - ns) <= 1 for p, (c, ns) in paths.items())


def score_text(score):
    """Two digits, or the first that is not 0; below 1e-6 it is 0."""
    size = abs(score)
    if size < 1e-6:
        return "0.00"
    return f"{score:.{math.ceil(-math.log10(size)) if size < 5e-3 else 2}f}"


class Shown:
    """The part of audit.OfFunction that looks at executions one by one."""

    # -------------------------------------------------------------------------- sentences

    def check_sentence(self, x, why):
        """What can be told from the sentence and the numbers of its execution."""
        found = said.clauses(why)
        names = {n: m for n, m in found}
        own, usual, lost = own_ns(x), x["usual_ns"], x["lost_ns"]
        bad = lambda check, *what: self.claim(check, False, x["id"], *what, "|", why)
        if None in names:
            bad("sentence", "says what is not known to be said:", names[None])
        anomaly = x["verdict"] == "anomaly"
        self.claim("sentence", not (anomaly and {"usual", "common", "slight"} & set(names)), x["id"], "is an anomaly |", why)
        self.claim("sentence", not ("usual" in names and (lost or own > LONGER * usual and not self.is_few)), x["id"], own, usual, lost, "|", why)
        for name in ("longer", "less", "same"):
            if name not in names:
                continue
            m = names[name]
            self.claim("sentence", said.says(m["usual"], usual), x["id"], "usual", usual, "|", why)
            if name == "same":
                self.claim("sentence", lost == 0 and (2 - LONGER) * usual - 1 <= own <= LONGER * usual + 1, x["id"], "lost", lost, "|", why)
                continue
            more = own - usual if name == "longer" else usual - own
            self.claim("sentence", more >= 0 and said.says(m["more"], more), x["id"], "took", own, "usual", usual, "|", why)
            if name == "longer":
                self.claim("sentence", bool(m["noise"]) == (lost == 0), x["id"], "lost", lost, "|", why)
            else:
                self.claim("sentence", lost == 0, x["id"], "lost", lost, "|", why)
        self.claim("sentence", not lost or "longer" in names or self.has_other_reason(names), x["id"], "lost", lost, "|", why)
        if "order_rare" in names:
            self.check_order(x, names["order"].groupdict() | names["order_rare"].groupdict(), why)
        if "size" in names:
            n = said.count_of(names["size"]["calls"]) + said.count_of(names["size"]["apart"] or "0")
            self.claim("sentence", n <= x["vertices"], x["id"], x["vertices"], "|", why)
        if "tracer" in names:
            self.claim("sentence", said.says(names["tracer"]["tracer"], x["tracer_ns"]), x["id"], x["tracer_ns"], "|", why)
        self.check_chance(x, names, why)
        self.check_few(x, names, why)
        self.check_cost_clause(x, names, why)

    def has_other_reason(self, names):
        return bool({"structure", "order", "size", "open", "few", "only", "tracer"} & set(names))

    def check_order(self, x, m, why):
        """It does call the one before the other, and as few calls do as it says."""
        n = 0 if m["n"] == "none" else said.count_of(m["n"])
        self.claim("sentence", 50 * n <= said.count_of(m["of"]), x["id"], "in another order:", n, "|", why)
        r = self.rows[x["rank"], x["thread"], x["index"]]
        row, end = self.run.rows(r["location"], r["call"])
        short = [self.run.short[self.run.name[self.run.region[i]]] for i in range(row, end)]
        holds = False
        for i in (i for i in range(row, end) if short[i - row] == m["where"]):
            inside, child = [], i + 1
            while child < i + self.run.length[i]:
                inside.append(short[child - row])
                child += self.run.length[child]
            if m["early"] in inside and m["late"] in inside:
                holds |= inside.index(m["early"]) < len(inside) - 1 - inside[::-1].index(m["late"])
        self.claim("sentence", holds, x["id"], "is not in that order |", why)

    def check_chance(self, x, names, why):
        """One of N runs is one of 1 / (p n); N is 2 or more."""
        expected = x["false_alarm_probability"] * self.n
        if "rarest" in names:
            self.claim("chance", expected <= 1e-6 * 1.001, x["id"], "p n", expected, "|", why)
        if "rare" in names:
            n = said.count_of(names["rare"]["n"])
            self.claim("chance", n >= 2, x["id"], "one of", n, "|", why)
            self.claim("chance", 1e-6 < expected < 0.5 and n == round(1 / expected), x["id"], "p n", expected, "|", why)
        if "common" in names:
            self.claim("chance", 0.5 <= expected <= 100.001, x["id"], "p n", expected, "|", why)

    def check_few(self, x, names, why):
        if "few" in names:
            own = [own_ns(y) for y in self.listed]
            m = names["few"]
            holds = said.says(m["took"], own_ns(x)) and said.count_of(m["n"]) == self.n
            holds &= said.says(m["least"], min(own)) and said.says(m["most"], max(own))
            self.claim("few", holds, x["id"], min(own), max(own), "of", self.n, "|", why)
        if "only" in names or "only_end" in names:
            self.claim("few", self.n == 1 and "only_end" in names, x["id"], "of", self.n, "|", why)
        if self.is_few:
            self.claim("few", not {"rarest", "rare", "common", "longer", "less"} & set(names), x["id"], "of", self.n, "|", why)
            self.claim("few", "open" in names or x["verdict"] == "normal", x["id"], "is an anomaly of", self.n)
        else:
            self.claim("few", not {"few", "only"} & set(names), x["id"], "of", self.n, "|", why)

    def check_cost_clause(self, x, names, why):
        cost, lost, bound = x["cost_ns"], x["lost_ns"], x["cost_is_bound"]
        if "ended_later" in names:
            holds = cost is not None and not bound and cost >= NO_COST * lost
            self.claim("cost", holds and said.says(names["ended_later"]["cost"], cost), x["id"], "cost", cost, "|", why)
        for name in ("only_waited", "nobody", "though"):
            if name in names:
                self.claim("cost", cost is not None and not bound and cost <= NO_COST * lost + 1, x["id"], "cost", cost, "lost", lost, "|", why)
        if "ended_at_most" in names:
            holds = cost is not None and bound and said.says(names["ended_at_most"]["cost"], cost)
            self.claim("cost", holds, x["id"], "cost", cost, "|", why)
        if "cost_unknown" in names:
            self.claim("cost", cost is None, x["id"], "cost", cost, "|", why)
        i = self.incident_of.get(x["id"])
        if "together" in names:
            holds = i is not None and i["cost_ns"] is not None and said.says(names["together"]["cost"], i["cost_ns"])
            self.claim("cost", holds, x["id"], "incident", i and i["cost_ns"], "|", why)
        elif i and len(i["members"]) > 1 and i["cost_ns"] and {"only_waited", "nobody", "though"} & set(names):
            self.claim("cost", i["cost_ns"] - cost < NO_COST * lost, x["id"], "cost nothing, its incident", i["cost_ns"], "|", why)

    # ------------------------------------------------------------------------------- show

    def check_show(self, x):
        s = self.show(x)
        for field in x:
            self.claim("same", s[field] == x[field], x["id"], "show", field, s[field], x[field])
        r = self.rows[x["rank"], x["thread"], x["index"]]
        place = 1 + sum(y["score"] > x["score"] for y in self.listed)
        self.claim("counts", s["place"] == place and s["of"] == self.n, x["id"], "place", s["place"], place, "of", s["of"])
        self.claim("same", s["usual_duration_ns"] == x["usual_ns"], x["id"], "usual_duration_ns", s["usual_duration_ns"])
        median = statistics.median(y["vertices"] for y in self.listed)
        low = statistics.median_low([y["vertices"] for y in self.listed])
        self.claim("counts", round(s["usual_vertices"]) in (round(median), low), x["id"], "usual_vertices", s["usual_vertices"], median)
        paths, tracer_ns = self.run.paths_of(r["location"], r["call"])
        self.claim("sums", tracer_ns == x["tracer_ns"], x["id"], "tracer", x["tracer_ns"], tracer_ns)
        got = {tuple(p["path"]): [p["calls"], p["exclusive_ns"]] for p in s["paths"]}
        known = sum(p["calls"] for p in s["paths"])
        if known == sum(c for c, _ in paths.values()):
            self.claim("sums", same_paths(got, paths), x["id"], "paths", got, dict(paths))
            total = sum(p["exclusive_ns"] for p in s["paths"])
            self.claim("sums", abs(total - own_ns(x)) <= 1, x["id"], "paths take", total, "it took", own_ns(x))
        else:
            self.claim("counts", False, x["id"], "calls on paths", known, sum(c for c, _ in paths.values()))
        for p in s["paths"]:
            excess = p["exclusive_ns"] - p["usual_ns"]
            self.claim("sums", abs(p["excess_ns"] - excess) <= 1.5, x["id"], p["path"], "excess", p["excess_ns"], excess)
            self.claim("sums", p["usual_ns"] >= -1, x["id"], p["path"], "usual", p["usual_ns"])
        self.check_usual_calls(x, s)
        self.check_peers(x, s)
        i = self.incident_of.get(x["id"])
        self.claim("same", (s["incident"] or None) == i, x["id"], "incident", s["incident"], i)
        self.check_paths_said(x, s)
        self.check_numbers(x, s)
        self.check_cause(x, s)

    def check_usual_calls(self, x, s):
        """usual_calls is the mean over all executions; of small runs, which can be walked."""
        if int(self.run.meta["n_calls"]) > MAX_CALLS:
            return
        if not hasattr(self, "all_calls"):
            self.all_calls = defaultdict(int)
            for r in self.rows.values():
                for path, (calls, _) in self.run.paths_of(r["location"], r["call"])[0].items():
                    self.all_calls[path] += calls
        for p in s["paths"]:
            want = self.all_calls[tuple(p["path"])] / self.n
            self.claim("counts", math.isclose(p["usual_calls"], want, rel_tol=1e-6), x["id"], p["path"], "usual_calls", p["usual_calls"], want)

    def check_peers(self, x, s):
        place = (x["rank"], x["thread"])
        overlap = lambda y: y["enter_ns"] < x["enter_ns"] + x["duration_ns"] and y["enter_ns"] + y["duration_ns"] > x["enter_ns"]
        want = [y["id"] for y in self.anomalies if (y["rank"], y["thread"]) != place and overlap(y)]
        self.claim("counts", set(s["peers"]) <= set(want) and len(s["peers"]) == min(5, len(want)), x["id"], "peers", s["peers"], want)

    def check_paths_said(self, x, s):
        """The paths named are those of the JSON, and add up to what it took more."""
        by_name = defaultdict(list)
        for p in s["paths"]:
            by_name[self.printed_path(p["path"])].append(p)
        for name, m in said.clauses(x["why"]):
            if name not in ("longer", "less", "same", "each_ordinary") or not m["paths"]:
                continue
            named, rest, left = said.paths_of(m["paths"])
            self.claim("sentence", not left, x["id"], "not understood:", left)
            sum_ns, biggest = 0, None
            for path in named:
                plain = re.sub(r" \([^()]*:\d+\)$", "", path["name"])  # without where its source is
                fits = by_name[path["name"]] + by_name[plain]
                fits = [p for p in fits if said.says(path["more"], p["excess_ns"])]
                usual = lambda p: path["usual"] == "none" or said.says(path["usual"], p["usual_ns"])
                fits = [p for p in fits if usual(p)]
                self.claim("sentence", bool(fits), x["id"], plain, path["more"], path["usual"], by_name[plain], "|", x["why"])
                if fits:
                    sum_ns += fits[0]["excess_ns"]
            more = own_ns(x) - x["usual_ns"]
            if len(named) and rest is not None:
                rest.half_ns += 0.5 * len(named)  # each excess is rounded
                self.claim("sentence sum", rest.is_of(more - sum_ns), x["id"], "more", more, "named", sum_ns, "|", x["why"])
            elif len(named):
                self.claim("sentence sum", abs(more - sum_ns) <= 0.0101 * abs(more) + 2, x["id"], "more", more, "named", sum_ns, "|", x["why"])

    def printed_path(self, path):
        """Its last two functions, as short as they are printed."""
        names = [self.run.short[n][:110] for n in path[-2:]]
        return " > ".join(names) if len(path) > 1 else self.run.short[path[0]][:120] + " itself"

    def check_numbers(self, x, s):
        """No time in the sentence that is not one of the JSON."""
        known = [abs(v) for v in numbers_in(s)]
        known += [abs(own_ns(x) - x["usual_ns"]), own_ns(x)]
        own = [own_ns(y) for y in self.listed]
        known += [min(own), max(own)] if self.is_few else []
        for name, m in said.clauses(x["why"]):
            if name is None:
                continue
            text = re.sub(rf"all other call paths together: {said.TIME} (?:less|more) than typical", "", m.group())
            for time in said.times_in(text):
                self.claim("numbers", any(said.says(time, v) for v in known), x["id"], time, "is nowhere in the JSON |", x["why"])

    def check_cause(self, x, s):
        """The chain of the sentence is that of the JSON; what it explains does not grow."""
        links = s["cause"]
        for a, b in zip(links, links[1:]):
            self.claim("cause", b["explained_ns"] <= a["explained_ns"], x["id"], "explained grows", a["explained_ns"], b["explained_ns"])
            self.claim("cause", a["waits_for"] is not None and a["peer"] == b["rank"], x["id"], "peer", a["peer"], b["rank"])
        for link in links:
            location = self.location_of(link["rank"], link["thread"])
            row = self.run.part[location]["first"] + link["call"]
            self.claim("cause", self.run.name[self.run.region[row]] == link["function"] == link["path"][-1], x["id"], "function", link)
            self.claim("cause", link["begin_ns"] <= link["end_ns"], x["id"], "begin", link)
        for name, m in said.clauses(x["why"]):
            if name != "cause":
                continue
            parts = m["chain"].split(" <- ")
            for k, part in enumerate(parts[: len(links)]):
                fit = said.LINK.fullmatch(part)
                link = links[k]
                holds = fit and said.says(fit["time"], link["time_ns"]) and fit["name"] == self.run.short[link["function"]][:100]
                holds = holds and (fit["rank"] is None) == (k == 0) and (k == 0 or int(fit["rank"]) == link["rank"])
                self.claim("cause", holds, x["id"], part, link)
            self.claim("cause", len(links) <= len(parts) <= len(links) + 1, x["id"], "links", len(links), m["chain"])

    def location_of(self, rank, thread):
        for loc in self.run.locations:
            if (loc["rank"], loc["thread"]) == (rank, thread):
                return loc["id"]
        raise KeyError((rank, thread))

    def check_text(self, x):
        """What `show` prints: the same numbers, and lines that add up."""
        s, text = self.show(x), self.a.ask("show", x["id"], "--all")
        lines = text.splitlines()
        head = f", score {score_text(x['score'])}, place {s['place']:,} of {s['of']:,} by score"
        self.claim("text", lines[0].endswith(head) and x["verdict"] in lines[0], x["id"], lines[0], "|", head)
        self.claim("text", lines[1] == x["why"], x["id"], lines[1], "|", x["why"])
        m = re.search(
            rf"entered at ({said.TIME}): ({said.TIME})(?: so far)?(?: \(typical with the same calls on this rank: ({said.TIME})\))?, "
            r"([\d,]+) calls?, ([\d,]+) messages?",
            text,
        )
        self.claim("text", m is not None, x["id"], "no line of what it took")
        if m:
            for k, field in enumerate(("enter_ns", "duration_ns", "usual_ns"), 1):
                if m[k] is not None: # of few executions nothing is usual
                    self.claim("text", said.says(m[k], x[field]), x["id"], field, m[k], x[field])
            for k, field in ((4, "vertices"), (5, "messages")):
                self.claim("text", said.count_of(m[k]) == x[field], x["id"], field, m[k], x[field])
        m = re.search(rf"^incident (\d+): head (\S+), ([\d,]+) executions? on (\d+) ranks?(?:, (?:({said.TIME}) lost|(nothing) lost)|; lost time not known)", text, re.M)
        i = self.incident_of.get(x["id"])
        if m and i:
            holds = int(m[1]) == i["id"] and m[2] == i["head"] and said.count_of(m[3]) == len(i["members"])
            holds = holds and int(m[4]) == len(i["ranks"]) and (m[5] is None or said.says(m[5], i["lost_ns"])) and (m[6] is None or i["lost_ns"] == 0)
            self.claim("text", holds, x["id"], m[0], i)
        self.claim("text", bool(m) == bool(i and i["id"]), x["id"], "line of its incident")
        self.check_sum_table(x, s, lines)
        self.check_tree(x, s, lines)

    def check_sum_table(self, x, s, lines):
        titles = [k for k, line in enumerate(lines) if line.startswith("where the execution took ")]
        if not titles:
            self.claim("text", x["lost_ns"] == 0, x["id"], "lost", x["lost_ns"], "and no line says where")
            return
        is_longer = lines[titles[0]].startswith("where the execution took longer")
        self.claim("text", is_longer == (x["lost_ns"] > 0), x["id"], lines[titles[0]], x["lost_ns"])
        row = re.compile(rf"\s*([+-]{said.TIME})\s+(-?{said.TIME})\s+(none|-?{said.TIME})\s+(?:([\d.e+]+)\s+([\d.e+-]+)\s+)?(\S.*)")
        rows = []
        for line in lines[titles[0] + 2 :]:
            m = row.fullmatch(line)
            if not m:
                break
            rows.append(m)
        self.claim("text", len(rows) >= 2 and rows[-1][6] == "in all", x["id"], "no sum")
        if len(rows) < 2:
            return
        own, usual = own_ns(x), x["usual_ns"]
        for k, want in ((1, own - usual), (2, own), (3, usual)):
            got = rows[-1][k]
            self.claim("text", got == "none" and want <= 0 or got != "none" and said.says(got, want), x["id"], "in all", got, want)
            cells = [said.printed(r[k]) for r in rows[:-1] if r[k] != "none"]
            off = abs(sum(c.ns for c in cells) - want)
            room = sum(c.half_ns for c in cells) * 1.001 + 2
            if k == 3 and any(r[3] == "none" for r in rows[:-1]):
                room += abs(min(0, want - sum(c.ns for c in cells)))
            self.claim("text sum", off <= room, x["id"], "lines add up to", sum(c.ns for c in cells), "in all", want)
        for r in rows[:-2]:
            fits = [
                p
                for p in s["paths"]
                if said.says(r[1], p["excess_ns"]) and said.says(r[2], p["exclusive_ns"]) and r[4] == str(p["calls"])
                and (r[3] == "none" or said.says(r[3], p["usual_ns"])) and r[6] == self.printed_path(p["path"])
            ]
            self.claim("text", fits, x["id"], "no such path:", r[0])

    def check_tree(self, x, s, lines):
        at = lines.index("the tree, by time:")
        row = re.compile(rf"([\s│├└─]*)(\S.*?)(?: × (\d+))?\s+({said.TIME})\s+(-?{said.TIME})\s+(none|{said.TIME})(?:\s+([+-]{said.TIME}))?\s*")
        inclusive = defaultdict(float)
        for p in s["paths"]:
            for d in range(1, len(p["path"]) + 1):
                inclusive[tuple(p["path"][:d])] += p["exclusive_ns"]
        by_path = defaultdict(list)  # short names may be the same for several
        for p in s["paths"]:
            by_path[tuple(self.run.short[name][:60] for name in p["path"])].append(p)
        names, n = [], 0
        for line in lines[at + 2 :]:
            if not line.strip():
                break
            m = row.fullmatch(line)
            self.claim("text", m is not None, x["id"], "not a line of the tree:", line)
            if m is None:
                break
            names = names[: len(m[1]) // 3] + [m[2]]
            if tuple(names) not in by_path:  # where its source is stands behind it
                names[-1] = re.sub(r" \([^()]*:\d+\)$", "", m[2])
            fits = [
                p
                for p in by_path.get(tuple(names), [])
                if said.says(m[4], inclusive[tuple(p["path"])]) and said.says(m[5], p["exclusive_ns"])
                and int(m[3] or 1) == p["calls"] and (m[6] == "none" or said.says(m[6], p["usual_ns"]))
                and (m[7] is None or said.says(m[7], p["excess_ns"]))
            ]
            n += 1
            self.claim("text", fits, x["id"], line, "| none of", by_path.get(tuple(names)))
        if max(len(p["path"]) for p in s["paths"]) < 40:
            self.claim("text", n == len(s["paths"]), x["id"], "lines of the tree", n, len(s["paths"]))
