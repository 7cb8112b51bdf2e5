// The calls of two executions, of two runs, as one scene: times from the start of each execution, lanes of the one before
// and of the one after, and of each call what its call path took in both.
//
//     before | step----------------------|          A lane of one side is compared with a lane of the other: each has one
//            | solve------| build--|                execution there. What is compared are call paths: the time of all calls
//     after  | step--------------|                  on a path, in the one and in the other.
//            | solve------|
import { ComparedNode, Pair } from "../api/compare_types";
import { TreeNode } from "../api/types";
import { lookup } from "./callers";
import { Side, sides } from "./difference";
import { Calls, Lane } from "./rows";
import { MessageColumns } from "./timeline_draw";
import { Span } from "./window";

/* An execution, and its call paths, callers first. */
export interface ComparedTree {
    begin_ns: number;
    end_ns: number;
    nodes: TreeNode[] | null; /* null: they are not here yet */
}

export interface ComparedLane {
    location: number /* of its run */;
    name: string;
    pair: number /* lanes of both sides with this number are compared with each other */;
    tree: ComparedTree | null /* null: no execution is there at that time */;
}

/* What one side has in a window. */
export interface ComparedSide {
    start_ns: number /* of its execution: 0 of the scene */;
    calls: Calls;
    messages: MessageColumns;
    lanes: ComparedLane[];
    name: (region: number) => string /* as the run after has it */;
}

/* A call path in the executions of two lanes that are compared. */
export interface PathRow {
    path: string;
    pair: number;
    ns: Pair;
    calls: Pair;
}

export interface ComparedScene {
    calls: Calls;
    messages: MessageColumns;
    names: string[] /* of the regions of `calls` */;
    rows: PathRow[];
    row: Int32Array /* of each call, its path among `rows`; -1: not known */;
}

/* Lanes of the scene are numbered: those before first. */
export function laneOf(side: Side, at: number, before: number): number {
    return side === "before" ? at : before + at;
}

const between = " > ";

function pathsOf(nodes: TreeNode[], name: (region: number) => string): string[] {
    const paths: string[] = [];
    for (const { parent, region } of nodes)
        paths.push(parent < 0 ? name(region) : paths[parent] + between + name(region));
    return paths;
}

/* The node of each call of an execution; -1: it is none, or its callers are not there, or drawn several as one. */
function nodesOf(calls: Calls, trees: Map<number, ComparedTree>): Int32Array {
    const of = lookup(calls);
    const node = new Int32Array(calls.n).fill(-1);
    const below = new Map<TreeNode[], Map<string, number>>();
    for (const { nodes } of trees.values())
        if (nodes)
            below.set(
                nodes,
                new Map(nodes.map(({ parent, region }, i) => [`${parent}/${region}`, i])),
            );
    // Callers have a smaller depth, and rectangles of a location come by depth.
    for (let i = 0; i < calls.n; i++) {
        const tree = trees.get(calls.location[i]);
        if (!tree?.nodes?.length) continue;
        const isRoot =
            calls.begin_ns[i] === tree.begin_ns &&
            calls.end_ns[i] === tree.end_ns &&
            calls.merged[i] === 1 &&
            calls.region[i] === tree.nodes[0].region;
        const caller = calls.depth[i] > 0 ? of.caller(i, calls.depth[i] - 1) : -1;
        const above = caller >= 0 && calls.merged[caller] === 1 ? node[caller] : -1;
        if (above >= 0)
            node[i] = below.get(tree.nodes)!.get(`${above}/${calls.region[i]}`) ?? -1;
        else if (isRoot) node[i] = 0;
    }
    return node;
}

/* Rows of all paths of all pairs of lanes, and of each node its row. */
function rowsOf(of: Record<Side, ComparedSide>) {
    const rows: PathRow[] = [];
    const numbers = new Map<string, number>();
    const rowOfNode = new Map<ComparedTree, number[]>();
    sides.forEach((side, s) => {
        for (const { tree, pair } of of[side].lanes) {
            if (!tree?.nodes) continue;
            const paths = pathsOf(tree.nodes, of[side].name);
            rowOfNode.set(
                tree,
                tree.nodes.map(({ inclusive_ns, calls }, i) => {
                    const key = `${pair} ${paths[i]}`;
                    let at = numbers.get(key);
                    if (at === undefined) {
                        at = rows.length;
                        numbers.set(key, at);
                        rows.push({ path: paths[i], pair, ns: [0, 0], calls: [0, 0] });
                    }
                    rows[at].ns[s] += inclusive_ns;
                    rows[at].calls[s] += calls;
                    return at;
                }),
            );
        }
    });
    return { rows, rowOfNode };
}

type Numbers = Float64Array | Uint32Array | Uint16Array;

function joined<T extends Numbers>(
    a: T,
    b: T,
    of: [(x: number) => number, (x: number) => number],
): T {
    const both = new (a.constructor as new (n: number) => T)(a.length + b.length);
    a.forEach((x, i) => (both[i] = of[0](x)));
    b.forEach((x, i) => (both[a.length + i] = of[1](x)));
    return both;
}

const same = (x: number) => x;

export function joinSides(of: Record<Side, ComparedSide>): ComparedScene {
    const { before, after } = of;
    const names: string[] = [];
    const numbers = new Map<string, number>();
    const regions = new Map<string, number>();
    const regionIn = (side: Side) => (region: number) => {
        const key = `${side} ${region}`;
        const known = regions.get(key);
        if (known !== undefined) return known;
        const name = of[side].name(region);
        const at = numbers.get(name) ?? names.push(name) - 1;
        numbers.set(name, at);
        regions.set(key, at);
        return at;
    };
    const laneIn = (side: Side) => {
        const lanes = new Map(
            of[side].lanes.map((l, i) => [l.location, laneOf(side, i, before.lanes.length)]),
        );
        const elsewhere = before.lanes.length + after.lanes.length; /* no lane is that */
        return (location: number) => lanes.get(location) ?? elsewhere;
    };
    const by = (
        make: (side: Side) => (x: number) => number,
    ): [(x: number) => number, (x: number) => number] => [make("before"), make("after")];
    const shifts = by((side) => (ns) => ns - of[side].start_ns);
    const lanes = by(laneIn);
    const all = by(() => same);
    const [a, b] = [before.calls, after.calls];
    const [m, n] = [before.messages, after.messages];

    const { rows, rowOfNode } = rowsOf(of);
    const row = new Int32Array(a.n + b.n).fill(-1);
    for (const side of sides) {
        const { calls, lanes } = of[side];
        const trees = new Map(
            lanes.flatMap(({ location, tree }) => (tree ? [[location, tree]] : [])),
        );
        const first = side === "before" ? 0 : a.n;
        nodesOf(calls, trees).forEach((node, i) => {
            if (node >= 0) row[first + i] = rowOfNode.get(trees.get(calls.location[i])!)![node];
        });
    }
    return {
        names,
        rows,
        row,
        calls: {
            n: a.n + b.n,
            begin_ns: joined(a.begin_ns, b.begin_ns, shifts),
            end_ns: joined(a.end_ns, b.end_ns, shifts),
            location: joined(a.location, b.location, lanes),
            depth: joined(a.depth, b.depth, all),
            region: joined(a.region, b.region, by(regionIn)),
            call: joined(a.call, b.call, all),
            merged: joined(a.merged, b.merged, all),
        },
        messages: {
            n: m.n + n.n,
            send_ns: joined(m.send_ns, n.send_ns, shifts),
            recv_ns: joined(m.recv_ns, n.recv_ns, shifts),
            from: joined(m.from, n.from, lanes),
            to: joined(m.to, n.to, lanes),
            send_call: joined(m.send_call, n.send_call, all),
            recv_call: joined(m.recv_call, n.recv_call, all),
        },
    };
}

/* Whether both lanes of a pair have an execution whose paths are here: only then something is missing, or is another time. */
export function comparedPairs(of: Record<Side, ComparedLane[]>): Set<number> {
    const known = (side: Side) =>
        new Set(of[side].flatMap(({ pair, tree }) => (tree?.nodes ? [pair] : [])));
    const after = known("after");
    return new Set([...known("before")].filter((pair) => after.has(pair)));
}

/* One side below the other, or lanes that are compared with each other. */
export function arrangeLanes(of: Record<Side, { pair: number }[]>, by: "run" | "rank"): Lane[] {
    const lanes = sides.flatMap((side) =>
        of[side].map(({ pair }, at) => ({
            location: laneOf(side, at, of.before.length),
            pair,
        })),
    );
    const pairs = [...new Set(lanes.map(({ pair }) => pair))];
    const ordered =
        by === "run"
            ? lanes
            : pairs.flatMap((pair) => lanes.filter((lane) => lane.pair === pair));
    return ordered.map(({ location }) => ({ location }));
}

/* What a scene can be moved over: from before the start of the executions to the end of the longer run. */
export function wholeOf(runs: { start_ns: number; whole: Span }[]): Span {
    return [
        Math.min(...runs.map(({ start_ns, whole }) => whole[0] - start_ns)),
        Math.max(...runs.map(({ start_ns, whole }) => whole[1] - start_ns)),
    ];
}

/* Means over all executions, by path. */
export function meansOf(nodes: ComparedNode[], times: Pair[]): Map<string, Pair> {
    return new Map(nodes.map(({ path }, i) => [path, times[i]]));
}
