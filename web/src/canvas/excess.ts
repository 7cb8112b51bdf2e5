// Calls by how much longer they took than is usual for their call path, on their rank: ranks have different shares
// of the work. What is usual is read off the typical execution of the function of interest and what of it is different
// on a rank (or thread); of a whole execution it is the median there. Where there are few executions, what is usual
// everywhere stands in. Of calls outside of executions, of several that are drawn as one, and of paths that few
// executions have nothing is known.
import { TreeNode } from "../api/types";
import { hotColour } from "../format/colour";
import { Rgb, unknownColour } from "../format/palette";
import { Lookup } from "./callers";
import { Calls } from "./rows";

const decades = 3; /* of the scale, below the time of a typical execution */
const fewest = 5; /* calls of a path from which something is said to be usual */

export const fewestThere = 30; /* executions, to know what is usual on a rank: as the server has it */

export interface Usual {
    root: number; /* region of the executions */
    whole_ns: number; /* of a typical execution: the end of the scale */
    below: Map<string, number>; /* "node/region" -> node */
    call_ns: Float64Array; /* of one call of a node, with what it calls; NaN: too few */
    there: Map<number, Float64Array>; /* the same of locations where it is another */
}

/* What is usual on a location. */
export interface UsualThere {
    location: number;
    own_ns: [node: number, ns: number][]; /* of nodes whose own time is another one there */
}

/* Medians of the durations of locations that have enough executions. */
export function wholesOf(
    duration_ns: ArrayLike<number>,
    locationOf: (tree: number) => number | undefined,
): Map<number, number> {
    const at = new Map<number, number[]>();
    for (let tree = 0; tree < duration_ns.length; tree++) {
        const location = locationOf(tree);
        if (location === undefined) continue;
        const those = at.get(location);
        if (those) those.push(duration_ns[tree]);
        else at.set(location, [duration_ns[tree]]);
    }
    const wholes = new Map<number, number>();
    for (const [location, those] of at)
        if (those.length >= fewestThere)
            wholes.set(location, Float64Array.from(those).sort()[(those.length - 1) >> 1]);
    return wholes;
}

/* Of nodes with what they call, where some have other own times. */
function inclusiveWith(nodes: TreeNode[], own_ns: [number, number][]): Float64Array {
    const all = Float64Array.from(nodes, ({ inclusive_ns }) => inclusive_ns);
    for (const [node, ns] of own_ns) {
        const more = ns - nodes[node].exclusive_ns;
        for (let up = node; up >= 0; up = nodes[up].parent) all[up] += more;
    }
    return all;
}

/* Of the nodes of a typical execution, callers first; null when there is none. */
export function usualOf(
    nodes: TreeNode[],
    trees: number,
    there: UsualThere[] = [],
    wholes = new Map<number, number>(),
): Usual | null {
    if (!nodes.length) return null;
    const ofCalls = (inclusive: Float64Array) =>
        Float64Array.from(nodes, ({ calls }, i) =>
            calls * trees >= fewest ? inclusive[i] / calls : NaN,
        );
    const ofLocation = ({ location, own_ns }: UsualThere): [number, Float64Array] => {
        const call_ns = ofCalls(inclusiveWith(nodes, own_ns));
        call_ns[0] = wholes.get(location) ?? call_ns[0];
        return [location, call_ns];
    };
    return {
        root: nodes[0].region,
        whole_ns: nodes[0].inclusive_ns,
        below: new Map(nodes.map((node, i) => [`${node.parent}/${node.region}`, i])),
        call_ns: ofCalls(inclusiveWith(nodes, [])),
        there: new Map(there.map(ofLocation)),
    };
}

/* What each rectangle took over what is usual, in ns of either sign; NaN where that is not known. */
export function excessOf(calls: Calls, of: Lookup, usual: Usual): Float64Array {
    const node = new Int32Array(calls.n).fill(-1);
    // Callers have a smaller depth, and rectangles of a location come by depth.
    return Float64Array.from({ length: calls.n }, (_, i) => {
        if (calls.merged[i] > 1) return NaN;
        const depth = calls.depth[i];
        const caller = depth > 0 ? of.caller(i, depth - 1) : -1;
        const above = caller >= 0 ? node[caller] : -1;
        if (above < 0 && calls.region[i] !== usual.root) return NaN;
        node[i] = usual.below.get(`${above}/${calls.region[i]}`) ?? -1;
        const call_ns = usual.there.get(calls.location[i]) ?? usual.call_ns;
        return node[i] < 0 ? NaN : calls.end_ns[i] - calls.begin_ns[i] - call_ns[node[i]];
    });
}

/* 0: no longer than a thousandth of a typical execution over what is usual; 1: as much as one, or more. */
export function excessShare(excess_ns: number, { whole_ns }: Usual): number {
    if (!(excess_ns > 0)) return 0;
    return Math.min(Math.max(1 + Math.log10(excess_ns / whole_ns) / decades, 0), 1);
}

export function excessColour(excess_ns: number, usual: Usual): Rgb {
    return isNaN(excess_ns) ? unknownColour : hotColour(excessShare(excess_ns, usual));
}

/* What the scale has names for, from nothing to its end. */
export function excessSteps(usual: Usual): { ns: number; colour: Rgb }[] {
    return Array.from({ length: decades + 1 }, (_, k) => {
        const ns = usual.whole_ns * 10 ** (k - decades);
        return { ns, colour: excessColour(ns, usual) };
    });
}
