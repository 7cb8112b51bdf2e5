"""What snag says, as text: times in three digits, counts with commas, and the clauses of a sentence.

A printed time stands for all numbers that round to it; printed times are never compared with each
other by more than they are printed to.
"""
import re
from dataclasses import dataclass

UNIT_NS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
TIME = r"[0-9.]+(?:e\+[0-9]+)? (?:ns|us|ms|s)\b"
COUNT = r"[0-9]+(?:,[0-9]{3})*"


@dataclass
class Printed:
    """A time as it was printed: its value, and by how much the number behind it may differ."""

    ns: float
    half_ns: float

    def is_of(self, ns):
        return abs(self.ns - ns) <= self.half_ns * 1.001 + 1e-6 * abs(self.ns)


def printed(text):
    """The time that a text such as '-17.5 ms' says, with its sign."""
    sign = -1 if text.startswith("-") else 1
    digits, unit = text.lstrip("+-").split(" ")
    decimals = len(digits.split(".")[1]) if "." in digits else 0
    half = 0.5 * 10**-decimals
    if decimals == 0 and unit == "s" and len(digits) > 3:
        half = 0.5 * 10 ** (len(digits) - 3)  # thousands of seconds are not printed to the second
    return Printed(sign * float(digits) * UNIT_NS[unit], half * UNIT_NS[unit])


def says(text, ns):
    """Whether a printed time is that of so many nanoseconds."""
    return printed(text).is_of(ns)


def count_of(text):
    return int(text.replace(",", ""))


def times_in(text):
    """All times in a text, without their signs."""
    return re.findall(r"(?<![\w.])" + TIME, text)


# The clauses that a sentence is made of, and what each of them claims. What fits none is no clause.
CLAUSES = {
    "usual": r"nothing stands out",
    "longer": rf"(?P<more>{TIME}) longer than a typical execution (?:with the same calls|that does not make the rare calls of this one) \((?P<usual>{TIME})\)"
    r"(?P<noise>, as such executions vary by that much|, and still open when the events of its rank ended|, as it is the first execution of its location and waited until the others had begun "
    r"\(not counted as lost\)|, of which " + TIME + r" are lost, as it is the first execution of its location and waited until the others "
    r"had begun)?(?:: (?P<paths>.*))?",
    "less": rf"(?P<more>{TIME}) less than a typical execution with the same calls \((?P<usual>{TIME})\)"
    r"(?:, on other call paths)?(?P<noise>, as such executions vary by that much|, and still open when the events of its rank ended)?(?:: (?P<paths>.*))?",
    "same": rf"on other call paths than a typical execution with the same calls, which takes as long \((?P<usual>{TIME})\)"
    r"(?:: (?P<paths>.*))?",
    "as_a_whole": r"rare in all of its calls together, though none of them stands out by itself",
    "of_others": r"nothing of its own: others lost time because of it",
    "labels": r"labels made it an anomaly(?:, though nothing of it stands out)?",
    "each_ordinary": r"no single call is strange, but together they take too long(?:: (?P<paths>.*))?",
    "few": rf"(?P<took>{TIME}), one of (?P<n>{COUNT}) executions, which took (?P<least>{TIME}) to "
    rf"(?P<most>{TIME}): too few to say what is typical",
    "only": rf"(?P<took>{TIME})",
    "few_of_model": rf"the model knows only (?:one execution, which took {TIME}|(?P<n>{COUNT}) executions, which took (?P<least>{TIME}) to "
    rf"(?P<most>{TIME}): too few to say what is typical)",
    "only_end": r"the only execution",
    "open": rf"it does not end: it is still open when the events of its rank end, (?P<after>{TIME}) before "
    r"the run ends",
    "open_ran": rf"it had run for (?P<took>{TIME}) by then, and a typical execution with the same calls takes "
    rf"(?P<usual>{TIME})",
    "rarest": r"by chance in fewer than 1 of 1,000,000 runs",
    "rare": rf"by chance in 1 of (?P<n>{COUNT}) runs",
    "common": r"no anomaly: by chance in 1 of 2 runs, or in more",
    "structure": r".* makes .*",
    "order": rf"(?P<where>.*) calls (?P<early>.*) before (?P<late>.*)",
    "order_rare": rf"(?P<n>none|{COUNT}) of its (?P<of>{COUNT}) calls with the same calls inside (?:is|are) in another order than the typical one",
    "size": rf"(?P<calls>{COUNT}) calls(?: in all)? \(typical: (?P<usual>{COUNT})\)(?:, and (?P<apart>{COUNT}) that (?:is|are) not compared)?",
    "beside": r"all or part of the time of .* itself may belong to what came before or after it, as its begin and end are estimates",
    "off": rf"its begin and end are known to within (?P<off>{TIME})",
    "tracer": rf"the tracer (?:wrote its buffer for|took) (?P<tracer>{TIME})",
    "cause": r"cause: (?P<chain>.*)",
    "ended_later": rf"in the replay the run ends (?P<cost>{TIME}) later because of it(?:: (?P<who>ranks? .*) waited)?",
    "only_waited": r"in the replay the run ends no later because of it: it only waited",
    "nobody": r"in the replay the run ends no later because of it: nobody waited for it",
    "though": r"in the replay the run ends no later because of it, though (?P<who>ranks? .*) waited",
    "ended_at_most": rf"in the replay the run ends at most (?P<cost>{TIME}) later because of it: not all of who waited for whom is in the trace",
    "range": rf"without what its cause alone lost the replayed run is (?P<least>{TIME}|not) shorter, without all that was lost with it "
    rf"(?:at most )?(?P<most>{TIME})",
    "cost_unknown": r"its cost is not known: .*",
    "learnt": r"no anomaly: the model learnt so from labels",
    "slight": r"rare, but no anomaly: (?:without the error bounds of begins and ends, )?the significant part of the difference is below "
    r"5 % of a typical execution",
    "together": rf"(?P<cost>{TIME}) later because of its whole incident",
}


def clauses(sentence):
    """[(name, match)] of a sentence; the name is None where it says what nobody knows.

    Clauses stand between semicolons; one inside of brackets ends none.
    """
    parts, depth, begin = [], 0, 0
    for i, c in enumerate(sentence):
        depth += (c == "(") - (c == ")")
        if c == ";" and depth <= 0 and sentence[i : i + 2] == "; ":
            parts.append(sentence[begin:i])
            begin = i + 2
    parts.append(sentence[begin:])
    found = []
    for part in parts:
        for name, pattern in CLAUSES.items():
            match = re.fullmatch(pattern, part)
            if match:
                break
        found.append((name, match) if match else (None, part))
    return found


PATH = re.compile(
    rf"(?:, )?(?P<name>.*?)(?: or (?P<others>.*?))? (?P<more>[+-]{TIME}) \(typical: (?P<usual>none|{TIME})"
    rf"(?:; known to within (?P<off>{TIME}))?\)"
)
REST = re.compile(rf"(?:, )?all other call paths together: (?P<rest>{TIME}) (?P<how>less|more) than typical$")


def paths_of(text):
    """([match of PATH], the rest in ns as Printed or None, what was not understood)."""
    found, at = [], 0
    while at < len(text):
        rest = REST.match(text, at)
        if rest:
            said = printed(("-" if rest["how"] == "less" else "+") + rest["rest"])
            return found, said, ""
        path = PATH.match(text, at)
        if not path:
            return found, None, text[at:]
        found.append(path)
        at = path.end()
    return found, None, ""


LINK = re.compile(rf"(?:rank (?P<rank>[0-9]+)(?:\.(?P<thread>[0-9]+))? )?(?P<name>.*) (?P<time>{TIME})(?: \(the tracer\))?")


def ranks_named(text):
    """([(rank, thread)], how many more) of 'ranks 0, 1.2 and 5 more'."""
    text = re.sub(r"^ranks? ", "", text)
    more = re.search(r" and ([0-9]+) more$", text)
    text = re.sub(r" and [0-9]+ more$", "", text)
    named = []
    for name in re.split(r", | and ", text):
        rank, _, thread = name.partition(".")
        named.append((int(rank), int(thread or 0)))
    return named, int(more[1]) if more else 0
