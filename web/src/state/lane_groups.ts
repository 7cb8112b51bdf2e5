// Lanes as they belong together: the threads of a rank under its first one, and its streams of GPUs under their
// device; ranks under the node they ran on.
import { Lane } from "../canvas/rows";
import { Location } from "../api/types";
import { streamWords } from "../format/stream_words";
import { mostLanes } from "./lanes";

const mostUnasked = 8; /* threads of the rank that is looked at: with more they are folded */

export interface Grouping {
    threads: Map<number, Location[]>; /* of each rank, the first one before the others */
    folds: Record<
        number,
        boolean
    >; /* ranks whose threads a person unfolded (true), or folded */
    own: number | null; /* the rank that is looked at */
    pinned: number[]; /* ranks */
}

export function threadsByRank(locations: Location[]): Map<number, Location[]> {
    const of = new Map<number, Location[]>();
    for (const l of locations) {
        if (!of.has(l.rank)) of.set(l.rank, []);
        of.get(l.rank)!.push(l);
    }
    for (const threads of of.values())
        threads.sort((a, b) => Number(a.is_gpu) - Number(b.is_gpu) || a.thread - b.thread);
    return of;
}

/* Those of a rank that say something; a source may announce threads of which it has no calls. */
function threadsBelow(rank: number, { threads }: Grouping): Location[] {
    return (threads.get(rank) ?? []).slice(1).filter((l) => l.calls !== 0);
}

export function areThreadsShown(rank: number, grouping: Grouping): boolean {
    const n = threadsBelow(rank, grouping).length;
    return grouping.folds[rank] ?? (rank === grouping.own && n > 0 && n <= mostUnasked);
}

/* The first stream of a device says which that is. */
function nest(shown: Location[]): Lane[] {
    let last = "";
    return shown.map((l) => {
        const device = l.is_gpu ? streamWords(l.name, l.thread).device : "";
        const heading = device !== last ? device : "";
        last = device;
        return { location: l.id, isNested: true, heading: heading || undefined };
    });
}

function laneGroup(rank: number, asked: Set<number>, grouping: Grouping): Lane[] {
    const [first, ...others] = grouping.threads.get(rank)!;
    const below = threadsBelow(rank, grouping);
    const isPinned = grouping.pinned.includes(rank);
    const isAsked = (l: Location) => grouping.folds[rank] === undefined && asked.has(l.id);
    const shown = areThreadsShown(rank, grouping) ? below : others.filter(isAsked);
    return [
        {
            location: first.id,
            threads: below.length,
            streams: below.filter((l) => l.is_gpu).length,
            isPinned,
        },
        ...nest(shown).map((lane) => ({ ...lane, isPinned })),
    ];
}

/* Pinned ranks first; then by node, where that is known, in the order in which nodes come. */
function orderRanks(ranks: number[], grouping: Grouping): { rank: number; node: string }[] {
    const nodeOf = (rank: number) => grouping.threads.get(rank)![0].node;
    const isPinned = (rank: number) => grouping.pinned.includes(rank);
    const others = ranks.filter((rank) => !isPinned(rank));
    const nodes = [...new Set(others.map(nodeOf))];
    const hasNodes = nodes.some((node) => node);
    return [
        ...grouping.pinned
            .filter((rank) => grouping.threads.has(rank))
            .map((rank) => ({ rank, node: "" })),
        ...nodes.flatMap((node) =>
            others
                .filter((rank) => nodeOf(rank) === node)
                .map((rank) => ({ rank, node: hasNodes ? node || "node not known" : "" })),
        ),
    ];
}

/*
 * The lanes of the locations asked for: each rank once, with those of its threads that are unfolded
 * or asked for. The first of a node says its name.
 */
export function groupLanes(
    asked: number[],
    locations: Map<number, Location>,
    grouping: Grouping,
): Lane[] {
    const ids = new Set(asked);
    const ranks = new Set(asked.flatMap((id) => locations.get(id)?.rank ?? []));
    let last = "";
    const lanes = orderRanks([...ranks], grouping).flatMap(({ rank, node }) => {
        const group = laneGroup(rank, ids, grouping);
        if (node !== last) group[0].heading = node || undefined;
        last = node;
        return group;
    });
    return lanes.slice(0, mostLanes);
}
