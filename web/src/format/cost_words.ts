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
