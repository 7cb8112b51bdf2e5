// The tree of call paths of runs that are compared: inclusive times of both sides, and where a
// picture has them. As wide as the time of one side; the other side gives the colour.
import { ComparedNode, ComparisonTree, Pair } from "../api/compare_types";

export const sides = ["before", "after"] as const;
export type Side = (typeof sides)[number];
export type Both<T> = Record<Side, T>;

export const both = <T>(make: (side: Side) => T): Both<T> => ({
    before: make("before"),
    after: make("after"),
});

/* Loaded side by side. */
export async function bothOf<T>(load: (side: Side) => Promise<T>): Promise<Both<T>> {
    const [before, after] = await Promise.all(sides.map(load));
    return { before, after };
}

export const leastWidth = 1.2; /* pixels: what is narrower is left out */

/* Times of an execution on each path and below it; of all executions, or of one kind. */
export function inclusiveTimes(tree: ComparisonTree, kind: number | null): Pair[] {
    const times = ownTimes(tree, kind).map(([before, after]): Pair => [before, after]);
    for (let i = times.length - 1; i > 0; i--) {
        const caller = times[tree.nodes[i].parent!];
        caller[0] += times[i][0];
        caller[1] += times[i][1];
    }
    return times;
}

export function ownTimes(tree: ComparisonTree, kind: number | null): Pair[] {
    const of = kind === null ? null : tree.kinds[kind]?.time_ns;
    return tree.nodes.map((node, i) => (of ? [of[0][i], of[1][i]] : node.time_ns));
}

export interface PlacedPath {
    node: number;
    depth: number;
    x: number;
    width: number;
    hidden: number /* paths below it that are not drawn */;
}

/* The callers of a node, the first one first, and itself. */
export function lineage(nodes: ComparedNode[], node: number): number[] {
    const line = [node];
    while (nodes[line[0]].parent !== null) line.unshift(nodes[line[0]].parent!);
    return line;
}

/* What fills the picture after a click: what fills it already gives way to its caller; null: all. */
export function zoomAt(
    { nodes }: ComparisonTree,
    path: string,
    zoomed: string | null,
): string | null {
    const node = nodes.find((n) => n.path === path);
    const isFilled = (zoomed ?? nodes[0]?.path) === path;
    const to = isFilled && node?.parent != null ? nodes[node.parent] : node;
    return !to || to.parent === null ? null : to.path;
}

function childrenOf(nodes: ComparedNode[]): number[][] {
    const children: number[][] = nodes.map(() => []);
    nodes.forEach((node, i) => node.parent !== null && children[node.parent].push(i));
    return children;
}

/*
 * What is below `root`, which is as wide as `width`; above it its callers, as wide. Paths are in the
 * order of the tree, whichever side it is: so both sides can be laid under each other.
 */
export function placePaths(
    nodes: ComparedNode[],
    times: Pair[],
    side: 0 | 1,
    root: number,
    width: number,
    wholeNs = times[root][side],
): PlacedPath[] {
    const children = childrenOf(nodes);
    const size = nodes.map(() => 1);
    for (let i = nodes.length - 1; i > 0; i--) size[nodes[i].parent!] += size[i];
    const pxPerNs = wholeNs > 0 ? width / wholeNs : 0;
    const line = lineage(nodes, root);
    const placed: PlacedPath[] = line
        .slice(0, -1)
        .map((node, depth) => ({ node, depth, x: 0, width, hidden: 0 }));
    const add = (node: number, depth: number, x: number) => {
        const own = { node, depth, x, width: times[node][side] * pxPerNs, hidden: 0 };
        placed.push(own);
        let at = x;
        for (const child of children[node]) {
            const wide = times[child][side] * pxPerNs;
            if (wide >= leastWidth) add(child, depth + 1, at);
            else if (times[child][side] > 0) own.hidden += size[child];
            at += wide;
        }
    };
    if (nodes.length && times[root][side] > 0) add(root, line.length - 1, 0);
    return placed;
}
