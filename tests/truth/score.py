"""What snag says of a run, against what the run's programs wrote down; and the scoreboard over many. The words are
those of README.md: found, place, rank, function, lost, cost, false."""
import json
import re
import shutil
import subprocess

import model

WITHIN = 0.10  # of the truth
OF_STEP = 0.2  # or of a typical execution, where that is more: below, times are how the machine is
MIN_SHARE = 0.01  # of the run, that a disturbance has to cost to count, or
MIN_STEPS = 5  # typical executions, that its excess has to be
COVERS_MIN = 0.5  # of the steps of one thing that lasts
CHECKS = ["found", "place", "rank", "function", "lost", "cost", "as one number", "what-if"]


def run_snag(snag, *args):
    done = subprocess.run([str(snag)] + [str(x) for x in args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, timeout=200, check=False)
    if done.returncode not in (0, 3):
        raise RuntimeError(f"snag {' '.join(str(x) for x in args)}: {done.stderr.decode()[-500:]}")
    return done.stdout.decode()


def lines(text):
    return [json.loads(x) for x in text.splitlines() if x.strip()]


def ask(snag, directory, way, foi, truth):
    """What a person would be told: analyze as it is said first, then list, ranks and what-if of its run."""
    path = directory / f"{way}.snag"
    shutil.rmtree(path, ignore_errors=True)  # it may be of a version that this one does not read
    command = ["analyze", directory / "trace", "-o", path] + (["--foi", foi] if foi else [])
    try:
        said = lines(run_snag(snag, *command, "--json", "-q"))[0]
    except (RuntimeError, IndexError) as error:
        return {"error": str(error), "foi": None}
    incidents = lines(run_snag(snag, "list", path, "--incidents", "--all", "--json", "-q"))
    executions = {x["id"]: x for x in lines(run_snag(snag, "list", path, "--all", "--json", "-q")) if "enter_ns" in x}
    meta = {x["key"]: x["value"] for x in lines(run_snag(
        snag, "query", path, "SELECT key, value FROM meta WHERE key IN ('origin_ticks', 'ticks_per_s')", "--json", "-q"))}
    regions = [x["name"] for x in json.loads(run_snag(snag, "info", directory / "trace", "--all", "--json", "-q"))["regions"]]
    ranks = json.loads(run_snag(snag, "ranks", path, "--json", "-q"))
    without = f"rank={truth['events'][0]['rank']}" if truth["whole"] and truth["events"] else "anomalies"
    try:
        what_if = lines(run_snag(snag, "what-if", path, "--without", without, "--json", "-q"))[0]
    except (RuntimeError, IndexError):
        what_if = {"saved_ns": None}
    return {"foi": said["foi"], "anomalies": [x for x in incidents if x["verdict"] == "anomaly"], "normal": [
        x for x in incidents if x["verdict"] != "anomaly"], "executions": executions, "slow": said["slow_places"],
            "origin_ns": int(float(meta["origin_ticks"]) * 1e9 / float(meta["ticks_per_s"])), "regions": regions,
            "ranks": ranks["places"], "what_if_ns": what_if.get("saved_ns"), "without": without}


def close(said, truth, typical):
    return said is not None and abs(said - truth) <= max(WITHIN * abs(truth), OF_STEP * typical)


def close_to(said, event, what, typical):
    """what: "cost" or "excess": of what went wrong, or of all that held that rank up in these steps."""
    low, high = sorted((event[what + "_ns"], event[f"all_{what}_ns"]))
    return said is not None and (close(said, low, typical) or close(said, high, typical) or low <= said <= high)


def true_range(said, event, typical):
    """Whether what it cost, alone or with all that held that rank up in these steps, lies in what is said, from
    the least to the most."""
    if said is None:
        return False
    low, high = sorted((event["cost_ns"], event["all_cost_ns"]))
    room = lambda truth: max(WITHIN * abs(truth), OF_STEP * typical)
    return said[0] <= high + room(high) and said[1] >= low - room(low)


def range_of(incidents):
    """(least, most) that these are said to have cost, ns; None where that is not known of one."""
    if any(x["cost_most_ns"] is None for x in incidents):
        return None
    return sum(x["cost_least_ns"] for x in incidents), sum(x["cost_most_ns"] for x in incidents)


def ranged(said):
    if said is None or said[0] >= said[1] * (1 - WITHIN):
        return ms(said and said[1])
    return f"{ms(said[0])} to {ms(said[1])}"


def interval(said, identity):
    x = said["executions"].get(identity)
    return (x["enter_ns"] + said["origin_ns"], x["enter_ns"] + x["duration_ns"] + said["origin_ns"]) if x else (0, 0)


def place_of(identity):
    """(rank, thread) of "step#1.2-40"."""
    rank, thread = re.search(r"#(\d+)(?:\.(\d+))?-", identity).groups()
    return int(rank), int(thread or 0)


def pattern(function):
    """Of a function's name as snag has it: without parameters and outer namespaces; of a collective by who recorded it."""
    name = "(MPI_Allreduce|ncclDevKernel_AllReduce)" if function in ("collective", "ncclDevKernel_AllReduce") else \
        re.escape(re.sub(r"^(\w+::)+(?=\w+::)", "", function.split("(")[0])) + "(?![A-Za-z0-9])"
    return re.compile(r"(?<!\w)" + name, re.I)


def is_in_trace(function, said):
    return any(pattern(function).search(x) for x in said["regions"])


def covering(said, pieces, typical):
    """Incidents with an execution that overlaps half of these pieces or is half in them, the one that lost most
    first. An execution much longer than what happened in it is no place."""
    whole = sum(e - b for b, e in pieces)
    found = []
    for incident in said["anomalies"]:
        for member in incident["members"]:
            b, e = interval(said, member)
            common = model.overlap(pieces, b, e)
            if common > 0 and 2 * common >= min(whole, e - b) and e - b <= 10 * typical + 3 * whole:
                found.append(incident)
                break
    return sorted(found, key=lambda x: -x["lost_ns"])


def blamed(incident):
    """(rank, thread) that an incident is said to go back to: its head's, or that of whom the head only waited for."""
    head = place_of(incident["head"])
    return head if incident["rank"] == head[0] else (incident["rank"], 0)


def delay_of_blamed(incident, said, delays, typical):
    """By how much who is blamed was held up, in the head's time; and in a typical execution before, where it is another
    than the head, which was late before it was waited for."""
    b, e = interval(said, incident["head"])
    is_head = incident["rank"] == place_of(incident["head"])[0]
    return delays.of(incident["rank"], b if is_head else b - typical, e)


def is_another(incident, event, said, delays, typical):
    """An incident at the same time that goes back to another rank, which was held up itself: something else."""
    return incident["rank"] != event["rank"] and event["rank"] is not None and bool(delays.ranks()) and \
        delay_of_blamed(incident, said, delays, typical) >= 0.5 * said["executions"][incident["head"]]["lost_ns"]


def compare_event(event, truth, said, covered, delays):
    """What is said of something that happened at a time. covered: the events that an incident has, by id."""
    typical = truth["typical_ns"]
    of = [x for x in covering(said, event["pieces"], typical) if not is_another(x, event, said, delays, typical)]
    result = dict.fromkeys(CHECKS) | {"found": bool(of), "place": bool(of)}
    if not of:
        return result | {"said": "nothing"}
    best = of[0]
    head = blamed(best)
    result["rank"] = None if event["rank"] is None else head[0] == event["rank"] and (
        event["thread"] is None or head[1] == event["thread"] or names_thread(best["why"], event))
    if event["function"] not in ("-", "?") and is_in_trace(event["function"], said):
        result["function"] = bool(pattern(event["function"]).search(best["why"]))
    b, e = interval(said, best["head"])
    result["place"] = model.overlap(event["pieces"], b, e) > 0 or best["turns"] > 1
    mine = [x for incident in of for x in incident["members"] if place_of(x)[0] == event["rank"] and
            model.overlap(event["pieces"], *interval(said, x)) > 0]
    if event["rank"] is not None:
        lost = sum(said["executions"][x]["lost_ns"] for x in mine)
        result["lost"] = close_to(lost, event, "excess", typical) or close(lost, event["longer_ns"], typical)
    together = {x: sum(y[x] for y in covered[best["id"]]) for x in ("cost_ns", "all_cost_ns")}
    is_alone = len(covered[best["id"]]) == 1
    said_of = [range_of([best])] + ([range_of(of)] if is_alone else [])
    result["cost"] = true_range(said_of[0], together, typical) or (is_alone and true_range(said_of[1], event, typical))
    result["as one number"] = any(x and close_to(x[1], together, "cost", typical) for x in said_of)
    said_cost = said_of[0] if true_range(said_of[0], together, typical) else said_of[-1]
    return result | {"range": said_cost,
                     "said": f"{best['head']}, {best['lost_ns'] / 1e6:.1f} ms lost, cost {ranged(said_cost)}: {best['why'][:160]}"}


def ms(ns):
    return "not known" if ns is None else f"{ns / 1e6:.1f} ms"


def compare_whole(event, truth, said, role):
    """What is said of something that lasted, or came again: a slow place, or incidents at half of its steps."""
    result = dict.fromkeys(CHECKS)
    typical = truth["typical_ns"]
    slow = [x for x in said["slow"] if x["verdict"] in ("slow", "imbalanced") and
            (x["place"] != f"rank {role}" or event["rank"] == role)]
    incidents = [x for x in said["anomalies"] if any(
        model.overlap(event["pieces"], *interval(said, m)) > 0 for m in x["members"])]
    hit = {i for x in incidents for m in x["members"] for i in model.touched(event["pieces"], *interval(said, m))}
    by_incidents = len(hit) >= COVERS_MIN * len(event["pieces"])
    result["found"] = bool(slow) or by_incidents
    if not result["found"]:
        verdicts = [f"{x['place']} {x['verdict']}" for x in said["ranks"] if is_place(x["place"], event)]
        return result | {"said": f"incidents at {len(hit)} of {len(event['pieces'])} times; ranks: {', '.join(verdicts) or 'nothing'}"}
    if slow:
        first = slow[0]
        result["rank"] = is_place(first["place"], event)
        why, cost, lost = first["why"], first["cost_ns"], first["excess_ns"]
        text = f"{first['place']} {first['verdict']}, excess {ms(lost)}, cost {ms(cost)}: {why[:160]}"
        ends = tuple(cost if first[x] is None else first[x] for x in ("cost_least_ns", "cost_most_ns"))
        said_cost = None if cost is None else ends
        one = cost
    else:
        incidents.sort(key=lambda x: -x["lost_ns"])
        right = sum(x["lost_ns"] for x in incidents if x["rank"] == event["rank"])
        result["rank"] = 2 * right >= sum(x["lost_ns"] for x in incidents)
        why = incidents[0]["why"]
        said_cost = range_of(incidents)
        one = said_cost and said_cost[1]
        lost = sum(said["executions"][m]["lost_ns"] for x in incidents for m in x["members"]
                   if place_of(m)[0] == event["rank"])
        text = f"{len(incidents)} incidents, the first {incidents[0]['head']}, together {ranged(said_cost)}: {why[:160]}"
    if is_in_trace(event["function"], said):
        result["function"] = bool(pattern(event["function"]).search(why))
    result["lost"] = close_to(lost, event, "excess", typical) or close(lost, event["longer_ns"], typical)
    result["cost"] = true_range(said_cost, event, typical)
    result["as one number"] = close_to(one, event, "cost", typical)
    result["what-if"] = close_to(said["what_if_ns"], event, "cost", typical)
    return result | {"range": said_cost, "said": text}


def names_thread(why, event):
    return re.search(rf"\b(rank {event['rank']}\.{event['thread']}|thread {event['thread']})\b", why) is not None


def is_place(place, event):
    words = place.split()
    numbers = [int(words[i + 1]) for i, w in enumerate(words[:-1]) if w in ("rank", "thread") and words[i + 1].isdigit()]
    kinds = [w for w in words if w in ("rank", "thread")]
    known = dict(zip(kinds, numbers))
    if "rank" in known and known["rank"] != event["rank"]:
        return False
    if "thread" in known and event["thread"] is not None:
        return known["thread"] == event["thread"]
    return "rank" in known or "thread" in known


def claims_without_cause(truth, logs, said, role):
    """Accusations of who did nothing: [(kind, text)]. An incident is without cause when nothing that went wrong by
    plan overlaps it and the log of the rank that it is said to go back to shows no delay of half of what its head lost;
    where another rank's does, it is a victim that is accused."""
    typical = truth["typical_ns"]
    known = sorted((b - typical, e + 2 * typical) for x in truth["events"] for b, e in x["pieces"])
    delays = model.Delays(logs or {})
    found = []
    for incident in said["anomalies"]:
        spans = [interval(said, m) for m in incident["members"]]
        if any(model.overlap(known, b, e) > 0 for b, e in spans):
            continue
        head = said["executions"].get(incident["head"])
        if head is None:
            continue
        b, e = interval(said, incident["head"])
        text = f"{incident['head']}, {head['lost_ns'] / 1e6:.2f} ms lost: {incident['why'][:160]}"
        need = 0.5 * head["lost_ns"]
        if logs is None:
            found.append(("nothing", text))
        elif delay_of_blamed(incident, said, delays, typical) < need:
            others = [r for r in delays.ranks() if r != incident["rank"] and delays.of(r, b - typical, e) >= need]
            found.append((f"a victim (rank {others[0]} was held up)" if others else "nothing", text))
    for slow in said["slow"]:
        if slow["verdict"] not in ("slow", "imbalanced") or slow["place"] == f"rank {role}" or any(
                x["rank"] is not None and is_place(slow["place"], x) for x in truth["events"]):
            continue
        if logs is not None and slow["place"].startswith("rank"):
            b, e = model.span(logs)
            of = {r: delays.of(r, b, e) for r in delays.ranks()}
            rank = int(slow["place"].split()[1])
            if of.get(rank, 0) - min(of.values()) >= 0.5 * slow["excess_ns"]:
                continue
        found.append(("slow place", f"{slow['place']} {slow['verdict']}: {slow['why'][:160]}"))
    return found


def matters(event, truth):
    return event["cost_ns"] >= MIN_SHARE * truth["run_ns"] or event["excess_ns"] >= MIN_STEPS * truth["typical_ns"]


def sentence(event):
    return (f"rank {event['rank']}" + (f" thread {event['thread']}" if event["thread"] else "") +
            f" in {event['function']}, {len(event['steps'])} steps from {min(event['steps'] or [0])} on: excess "
            f"{ms(event['excess_ns'])}, its steps {ms(event['longer_ns'])} longer, cost {ms(event['cost_ns'])} "
            f"({ms(event['all_cost_ns'])} with what else held it up)")


def compare(truth, logs, said, role):
    """{"foi", "events": [{check: true, false or null (does not apply)}], "false": [...]} of a run."""
    events = [x for x in truth["events"] if matters(x, truth)]
    if "error" in said:
        return {"foi": None, "error": said["error"], "false": [], "what_if": ["", None], "events": [
            dict.fromkeys(CHECKS) | {"found": False, "said": said["error"][-200:], "truth": sentence(x)} for x in events]}
    covered = {}
    for event in truth["events"]:
        for incident in covering(said, event["pieces"], truth["typical_ns"]):
            covered.setdefault(incident["id"], []).append(event)
    delays = model.Delays(logs or {})
    compared = [compare_whole(x, truth, said, role) if truth["whole"] else compare_event(x, truth, said, covered, delays)
                for x in events]
    for event, result in zip(events, compared):
        result["truth"] = sentence(event)
    return {"foi": said["foi"], "events": compared, "false": claims_without_cause(truth, logs, said, role),
            "what_if": [said["without"], said["what_if_ns"]]}


def share(values):
    known = [x for x in values if x is not None]
    return f"{sum(known)}/{len(known)}" if known else ""


def widths(results, way):
    """How wide the ranges of costs are: a range from nothing to all is always right, and says nothing."""
    shares = sorted(1 - e["range"][0] / e["range"][1] for x in results for e in x[way]["events"]
                    if e.get("range") and e["range"][1] > 0)
    if not shares:
        return []
    at = lambda q: f"{100 * shares[min(int(q * len(shares)), len(shares) - 1)]:.0f} %"
    return [f"Costs said as a range: its least is below its most by {at(0.5)} in the median, by {at(0.75)} or less in three of "
            f"four, by {at(0.9)} or less in nine of ten.", ""]


def rows(results, way, of):
    """A row for each value of a key: the checks, and runs without a false accusation, of all and of undisturbed ones."""
    text = []
    for value in dict.fromkeys(of(x) for x in results):
        mine = [x for x in results if of(x) == value]
        events = [e for x in mine for e in x[way]["events"]]
        quiet = [x for x in mine if x["disturbance"] == "none"]
        others = [x for x in mine if x["disturbance"] != "none"]
        text.append(f"| {value} | {len(mine)} | {len(events)} | " + " | ".join(share([e[c] for e in events]) for c in CHECKS) +
                    f" | {share([not x[way]['false'] for x in quiet])} | {share([not x[way]['false'] for x in others])} |")
    return text


def scoreboard(results):
    head = ["| | runs | disturbances | " + " | ".join(CHECKS) + " | undisturbed accuse nobody | disturbed accuse nobody else |",
            "|---" * (len(CHECKS) + 5) + "|"]
    text = []
    for way, title in (("default", "With the default function of interest"), ("foi", "With `--foi`")):
        text += ["", f"{title}:", ""] + widths(results, way) + head
        for of in (lambda x: "all " + x["noise"], lambda x: "functions from " + x["functions"],
                   lambda x: f"{x['program']}, {x['noise']}", lambda x: f"{x['disturbance']}, {x['noise']}",
                   lambda x: f"{x['ranks']} ranks, {x['noise']}"):
            text += rows(results, way, of)
    return "\n".join(text).lstrip() + "\n"


def failures(results, out):
    """What is wrong in each run, with the command that shows it."""
    text = []
    for x in results:
        for way in ("default", "foi"):
            said = x[way]
            if way == "foi" and said == x["default"]:
                continue
            wrong = [(e, [c for c in CHECKS if e[c] is False]) for e in said["events"]]
            if not any(c for _, c in wrong) and not said["false"]:
                continue
            trace = out / "runs" / x["name"].replace("/", "-")
            text.append(f"## {x['name']}, {'default function: ' + str(said['foi']) if way == 'default' else '--foi ' + str(said['foi'])}\n\n"
                        f"    snag list {trace}/{way}.snag; run {x['run_ms']:.0f} ms\n")
            for event, checks in wrong:
                if checks:
                    text.append(f"- **{', '.join(checks)}**\n  - truth: {event['truth']}\n  - said: {event['said']}")
            if said["events"] and said["events"][0].get("what-if") is False:
                w = said["what_if"]
                text.append(f"  - what-if --without {w[0]}: {ms(w[1])}")
            for kind, claim in said["false"]:
                text.append(f"- **accuses {kind}**: {claim}")
            text.append("")
    return "\n".join(text) + "\n"
