// The entries of the list on the left: an execution each, or an incident with its executions.
import { Candidate, Incident } from "../api/types";

export interface Entry {
    trees: number[]; /* its executions; the first is what choosing it selects */
    candidate?: Candidate;
    incident?: Incident;
}

export function entryOfCandidate(candidate: Candidate): Entry {
    return { trees: [candidate.tree], candidate };
}

export function entryOfIncident(incident: Incident): Entry {
    const others = incident.member_trees.filter((tree) => tree !== incident.head_tree);
    return { trees: [incident.head_tree, ...others], incident };
}

/* The head stays first, the others follow in the order in which they began. */
export function inTime([head, ...others]: number[], begin: ArrayLike<number>): number[] {
    return [head, ...others.sort((a, b) => begin[a] - begin[b])];
}

/* Where in the list an execution is; -1: nowhere. */
export function entryOf(entries: Entry[], tree: number | null): number {
    return tree === null ? -1 : entries.findIndex(({ trees }) => trees.includes(tree));
}

/* What to select for the next entry, or the one before; null where there is none. */
export function treeBeside(entries: Entry[], tree: number | null, by: 1 | -1): number | null {
    const at = entryOf(entries, tree);
    return entries[at < 0 ? 0 : at + by]?.trees[0] ?? null;
}
