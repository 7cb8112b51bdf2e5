// What the loss of an execution, or of an incident, cost the whole run.
import { formatTime, plural } from "./units";

export interface Cost {
    lost_ns: number;
    cost_ns: number | null;
    cost_is_bound?: boolean | null;
    verdict?: string; /* of an execution; without one it is not asked for */
}

/* "costs the run at most 1.2 ms"; null where nothing is known, or nothing was lost. What is an anomaly and lost nothing
   says so. */
export function costWords({ lost_ns, cost_ns, cost_is_bound, verdict }: Cost): string | null {
    if (cost_ns === null || (lost_ns === 0 && verdict !== "anomaly")) return null;
    if (cost_ns === 0) return "costs the run nothing";
    return `costs the run ${cost_is_bound ? "at most " : ""}${formatTime(cost_ns)}`;
}

/* What an incident cost: a number, or between what its cause alone cost and all that was lost with it. */
export interface IncidentCost {
    cost_ns: number | null;
    cost_least_ns?: number | null;
    cost_most_ns?: number | null /* where cost_ns is not known, too: it is at most that */;
}

/* The least is so far below the most that one number does not stand for both. */
const isRange = (least: number, most: number) => least < most * 0.9;

/* "29.2 to 36.4 ms", "at most 36.4 ms" from 0 on; the most alone where the least is hardly below it. */
function rangeWords(least: number, most: number): string {
    const [whole, unit] = formatTime(most).split(" ");
    if (!isRange(least, most)) return `${whole} ${unit}`;
    if (least === 0) return `at most ${whole} ${unit}`;
    const [low, lowUnit] = formatTime(least).split(" ");
    return `${low}${lowUnit === unit ? "" : ` ${lowUnit}`} to ${whole} ${unit}`;
}

/* "36.4 ms", "29.2 to 36.4 ms", "at most 5.00 ms", "nothing"; null where it is not known. */
export function incidentCost(of: IncidentCost): string | null {
    const most = of.cost_ns ?? of.cost_most_ns ?? null;
    if (most === null) return null;
    if (most === 0) return "nothing";
    return rangeWords(of.cost_least_ns ?? (of.cost_ns === null ? 0 : most), most);
}

/* Of who is slow always: "36.4 ms", "29.2 to 36.4 ms"; null where it is not known. */
export function slowCost({
    cost_ns,
    cost_least_ns,
    cost_most_ns,
}: IncidentCost): string | null {
    if (cost_ns === null) return null;
    const [least, most] = [cost_least_ns ?? 0, cost_most_ns ?? 0];
    return isRange(least, most) ? rangeWords(least, most) : formatTime(cost_ns);
}

export const rangeHelp =
    "from what its cause alone cost to what all cost that was lost at that time";

export const costHelp = "by how much the run, replayed without what was lost, is shorter";

/* As in a table: "1.2 ms", "≤ 1.2 ms"; "?" where nothing is known. */
export function shortCost({ cost_ns, cost_is_bound }: Omit<Cost, "lost_ns">): string {
    if (cost_ns === null || cost_ns === undefined) return "?";
    return `${cost_is_bound ? "≤ " : ""}${formatTime(cost_ns)}`;
}

/* Executions that lost time, and what that cost nobody knows. */
export interface NotKnown {
    executions: number;
    lost_ns: number;
    why: string | null; /* a clause, as executions have it */
}

/* "What 3 executions that lost 18.0 us cost the run is not known: ..."; null where all is known. */
export function notKnownWords({ executions, lost_ns, why }: NotKnown): string | null {
    if (!executions) return null;
    const reason = why?.replace(
        /^(its cost|what it cost the run) is not known: /,
        "",
    ); /* the latter in runs of older versions */
    const lost = `${plural(executions, "execution")} that lost ${formatTime(lost_ns)}`;
    return `What ${lost} cost the run is not known${reason ? `: ${reason}` : ""}.`;
}

export const liveCostHelp =
    "by how much the program would be ahead without what was lost; ?: not known, or not yet";
