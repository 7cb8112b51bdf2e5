import { Subtree } from "../api/types";

/* Those with more than the threshold (percent) of the largest importance, in either direction. */
export function keptSubtrees(
    list: Subtree[],
    percent: number,
): { kept: Subtree[]; most: number } {
    const most = list.reduce((m, s) => Math.max(m, Math.abs(s.importance)), 0);
    return {
        most,
        kept: list
            .filter((s) => s.importance && Math.abs(s.importance) * 100 >= percent * most)
            .sort((a, b) => Math.abs(b.importance) - Math.abs(a.importance)),
    };
}
