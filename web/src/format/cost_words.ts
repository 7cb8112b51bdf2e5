// What the loss of an execution, or of an incident, cost the whole run.
import { formatTime } from "./units";

export interface Cost {
    lost_ns: number;
    cost_ns: number | null;
    cost_is_bound?: boolean | null;
}

/* "costs the run at most 1.2 ms"; null where nothing is known, or nothing was lost. */
export function costWords({ lost_ns, cost_ns, cost_is_bound }: Cost): string | null {
    if (cost_ns === null || lost_ns === 0) return null;
    if (cost_ns === 0) return "costs the run nothing";
    return `costs the run ${cost_is_bound ? "at most " : ""}${formatTime(cost_ns)}`;
}

export const costHelp = "by how much the run would be shorter without what was lost";

/* As in a table: "1.2 ms", "≤ 1.2 ms"; "?" where nothing is known. */
export function shortCost({ cost_ns, cost_is_bound }: Omit<Cost, "lost_ns">): string {
    if (cost_ns === null || cost_ns === undefined) return "?";
    return `${cost_is_bound ? "≤ " : ""}${formatTime(cost_ns)}`;
}

export const liveCostHelp =
    "by how much the program would be ahead without what was lost; ?: not known, or not yet";
