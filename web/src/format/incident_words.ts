// What incidents and probabilities are in words.
import { Incident } from "../api/types";
import { costHelp, incidentCost, IncidentCost, rangeHelp } from "./cost_words";
import { shortId } from "./ids";
import { formatCount, formatTime, plural } from "./units";

/* Those that only labels made one have no number. */
export function incidentName({ id }: Incident): string {
    return id === null ? "incident" : `incident ${id}`;
}

/* "9 executions on 4 ranks" */
export function incidentSize({ members, ranks }: Incident): string {
    return `${plural(members.length, "execution")} on ${plural(ranks.length, "rank")}`;
}

/* Why, in short and without an amount: what it lost and cost is said beside it. */
export function incidentReason({
    cause,
    what,
    alike,
}: Pick<Incident, "cause" | "what" | "alike">): string {
    const isAmount = what !== null && /[+-][\d.]+ (ns|us|ms|s)( in all)?$/.test(cause);
    return isAmount ? `${alike > 1 ? `${alike} ranks: ` : ""}${what}` : cause;
}

export interface Amounts extends IncidentCost {
    verdict?: string;
    lost_ns: number;
    cost_unknown?: number /* of so many incidents it is not known */;
    incidents?: unknown[] /* where they are several */;
}

/*
 * "costs the run 59.0 ms", "... 29.2 to 36.4 ms", or where that is not known or nothing "177 ms lost". Where nothing was lost, that
 * is said of anomalies: they took less than is typical, or are strange by what they did. `help` says what is not said.
 */
export function amountWords(
    of: Amounts,
    isSum = false /* which is said */,
): { words: string; help: string } | null {
    const { verdict, lost_ns, cost_unknown = 0, incidents = [] } = of;
    const lost = `${formatTime(lost_ns)} lost`;
    const inAll = isSum ? " in all" : "";
    const beyond = "lost: beyond what is typical, in all of its executions";
    if (!lost_ns)
        return verdict === "anomaly"
            ? {
                  words: `nothing lost${inAll}`,
                  help: "strange, but as far as is known none of its executions took longer than is typical",
              }
            : null;
    const cost = incidentCost(of);
    if (cost === null)
        return {
            words: `${lost}${inAll}`,
            help: `${beyond}; what that cost the run is not known`,
        };
    const alone = incidents.length > 1 ? " (each removed alone)" : "";
    const isFromNothing = cost.startsWith("at most ");
    const isRange = of.cost_ns !== null && (isFromNothing || cost.includes(" to "));
    const range = isRange ? `, ${rangeHelp}` : "";
    const sum = alone && ", summed over the incidents, each removed alone";
    const help = `cost: ${costHelp}${range}${sum}; ${beyond}`;
    if (cost_unknown) {
        const known = incidents.length - cost_unknown;
        const which = `${formatCount(known)} cost${known === 1 ? "s" : ""} the run ${cost}`;
        return {
            words: `${lost}; ${which}, of ${formatCount(cost_unknown)} that is not known`,
            help,
        };
    }
    if (cost === "nothing") return { words: `${lost}${inAll}, costs the run nothing`, help };
    const perhaps = isFromNothing ? ", perhaps nothing" : "";
    return {
        words: `costs the run ${cost}${inAll}${perhaps}${alone}`,
        help: `${lost}; ${help}`,
    };
}

/* Whether that is a cost; it is what was lost where no cost is known. */
export function isCost(of: Amounts): boolean {
    return of.lost_ns > 0 && incidentCost(of) !== null;
}

/* In a line of many: what it cost; what it lost where that is not known. */
export function shortAmount(of: Amounts): string {
    if (!of.lost_ns) return "nothing lost";
    const cost = incidentCost(of);
    if (cost === null) return `${formatTime(of.lost_ns)} lost`;
    return cost === "nothing" ? "no cost" : cost.replace("at most ", "≤ ");
}

/* Who is to blame, if that is not the rank of its head, which the head's id says. */
export function causedBy({ caused_by }: Pick<Incident, "caused_by">): string | null {
    return caused_by === null ? null : `caused by rank ${caused_by}`;
}

/* "9 times, once in 30 executions"; null for what came once. */
export function comesBack({
    turns,
    period,
}: Pick<Incident, "turns" | "period">): string | null {
    if (turns < 2 || !period) return null;
    return `${plural(turns, "time")}, once in ${formatCount(period)} executions`;
}

/* As snag show says it. */
export function incidentSentence(of: Incident): string {
    return (
        `${incidentName(of)}: head ${shortId(of.head)}, ${incidentSize(of)}, ` +
        `${of.lost_ns ? formatTime(of.lost_ns) : "nothing"} lost`
    );
}

/* Two digits that matter. */
function roughly(x: number): string {
    return formatCount(Number(x.toPrecision(2)));
}

/*
 * How many runs of n executions have one so strange although nothing is wrong, when each is so
 * with this probability. Beyond the tail it is no count: then that it happens is all there is to say.
 */
export function chanceWords(probability: number, n: number): string {
    const expected = probability * n;
    if (expected >= 0.5) return "some executions are so strange by chance";
    const share = -Math.expm1(-expected); /* of the runs: they have one or more */
    if (share < 1e-4) return "fewer than 1 in 10,000 runs would show this by chance";
    return `about 1 in ${roughly(1 / share)} runs would show this by chance`;
}
