// What a run comes to, in a sentence or two: what its anomalies cost it, and what most of that goes back to.
import { Foi, Outcome } from "../api/types";
import { slowCost, slowRange } from "./cost_words";
import { formatCount, formatTime, sentence } from "./units";

/* Three digits: "44.9 %", "0.02 %". */
function percent(part: number, whole: number): string {
    return `${whole ? Number(((100 * part) / whole).toPrecision(3)) : 0} %`;
}

function shorter(cost: number, length: number): string {
    return `${formatTime(cost)} of ${formatTime(length)} (${percent(cost, length)}) shorter`;
}

/* "rank 1 is slow beside the others" */
export function alwaysSlow({ place, verdict }: NonNullable<Outcome["slow"]>): string {
    const how: Record<string, string> = {
        slow: "is slow beside the others",
        unsure: "may be slow beside the others",
    };
    return `${place} ${how[verdict] ?? "has more to do than the others"}`;
}

/* Beside the list, where who is slow always is not; null where what that costs is not known. */
export function slowBesideList({ slow, cost_ns }: Outcome): string | null {
    if (!slow || slow.cost_ns === null) return null;
    const isMore = cost_ns !== null && slow.cost_ns > cost_ns;
    const cost = `which costs the run ${slowCost(slow)}`;
    return isMore
        ? `${cost}: more than all that is listed here`
        : `${cost}; it is not listed here`;
}

/* As shorter, from the least to the most; null where it is not known. */
function slowShorter(slow: NonNullable<Outcome["slow"]>, length: number): string | null {
    if (slow.cost_ns === null) return null;
    const range = slowRange(slow);
    if (!range) return shorter(slow.cost_ns, length);
    const [least, most] = range.map((ns) => percent(ns, length));
    const share = range[0] ? `${least.split(" ")[0]} to ${most}` : most;
    return `${slowCost(slow)} of ${formatTime(length)} (${share}) shorter`;
}

/* Who is slow always is no anomaly. */
function slowWords({ slow, length_ns }: Outcome): string | null {
    if (!slow) return null;
    const why = slow.why ? `; ${slow.why}` : "";
    const more = slow.more
        ? `; ${formatCount(slow.more)} more ${slow.verdict === "unsure" ? "may be" : "are slow or have more to do"}`
        : "";
    const than = slowShorter(slow, length_ns);
    const cost = than
        ? `if it were like them, the replayed run would be ${than}`
        : "what that costs the run is not known";
    return sentence(`${alwaysSlow(slow)}: ${cost}${why}${more}`);
}

/* They were spoken of last. */
function anomalyWords(it: Outcome, anomalies: number): string {
    const [they, them] = anomalies === 1 ? ["it", "it"] : ["they", "them"];
    const most = it.most ? `; ${it.most.text}` : "";
    if (it.cost_ns === null) {
        const because = it.unknown ? `: ${it.unknown}` : "";
        return sentence(`what ${they} cost the run is not known${because}${most}`);
    }
    const run = `without ${them} the replayed run is`;
    if (!it.cost_ns) return sentence(`${run} not shorter${most}`);
    if (it.cost_is_bound)
        return sentence(
            `${run} at most ${shorter(it.cost_ns, it.length_ns)}: ${it.unknown}${most}`,
        );
    const { carrying } = it;
    const few =
        carrying && carrying < anomalies
            ? `; ${formatCount(carrying)} of the ${formatCount(anomalies)} carr${carrying === 1 ? "ies" : "y"} nine tenths of the ${formatTime(it.cost_ns)}`
            : "";
    return sentence(`${run} ${shorter(it.cost_ns, it.length_ns)}${most}${few}`);
}

/* What stands around "91 anomalies in 9,880 executions of step": before it who is slow always, where that costs
   the run more; behind it what they cost. */
export function outcomeWords({ outcome, anomalies }: Pick<Foi, "outcome" | "anomalies">): {
    before: string | null;
    behind: string;
} {
    const slow = slowWords(outcome);
    const isFirst = outcome.slow?.is_first ?? false;
    const own = anomalies
        ? anomalyWords(outcome, anomalies)
        : outcome.is_few
          ? "Too few executions to say what is typical."
          : "None stands out: each may be by chance, or lost too little to count.";
    return {
        before: isFirst ? slow : null,
        behind: isFirst || !slow ? own : `${own} ${slow}`,
    };
}
