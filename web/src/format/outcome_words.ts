// What a run comes to, in a sentence or two, as snag analyze says it: what its anomalies cost it, and what most of that goes
// back to; who is slow always.
import { Foi, Outcome } from "../api/types";
import { slowCost } from "./cost_words";
import { plural, sentence } from "./units";

/* Beside the list, where who is slow always is not; null where what that costs is not known. */
export function slowBesideList({ slow, cost_ns }: Outcome): string | null {
    if (!slow || slow.cost_ns === null) return null;
    const isMore = cost_ns !== null && slow.cost_ns > cost_ns;
    const cost = `which costs the run ${slowCost(slow)}`;
    return isMore
        ? `${cost}: more than all that is listed here`
        : `${cost}; it is not listed here`;
}

/* With the first of the call paths on which somebody is slow alone. */
export function shortSlow(text: string, why: string): string {
    const [first, ...more] = why.split(/(?<=\)), /);
    return more.length
        ? text.replace(why, `${first}, and on ${plural(more.length, "more call path")}`)
        : text;
}

/* What stands around "91 anomalies in 9,880 executions of step": before it who is slow always, where that costs
   the run more; behind it what they cost. */
export function outcomeWords({ outcome }: Pick<Foi, "outcome">): {
    before: string | null;
    behind: string;
    whole: string /* with all call paths */;
} {
    const all = outcome.slow && sentence(outcome.slow.text);
    const slow = all && shortSlow(all, outcome.slow!.why);
    const isFirst = outcome.slow?.is_first ?? false;
    const own = outcome.text
        ? sentence(outcome.text)
        : outcome.is_few
          ? "Too few executions to say what is typical."
          : "None stands out: each may be by chance, or lost too little to count.";
    return {
        before: isFirst ? slow : null,
        behind: isFirst || !slow ? own : `${own} ${slow}`,
        whole: [isFirst && all, own, !isFirst && all].filter(Boolean).join(" "),
    };
}
