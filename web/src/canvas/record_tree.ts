// The calls of a record as a tree of call paths, as the structure of an execution is drawn: the call
// itself when it has calls below it that are in its window, else its caller.
import { Lane, LaneCall } from "../api/live_types";
import { TreeNode } from "../api/types";

export interface RecordTree {
    nodes: TreeNode[]; /* region is an index into `names` */
    names: string[];
    isCaller: boolean; /* the root is not the call of the record, but its caller */
    nCalls: number;
}

const certain = 100; /* nats: what was judged an anomaly is drawn as one */

/* Calls inside the one at `root`: they follow it, at a greater depth, in the order of entering. */
function below(calls: LaneCall[], root: number): number[] {
    const list: number[] = [];
    for (let i = root + 1; i < calls.length && calls[i].depth > calls[root].depth; i++)
        list.push(i);
    return list;
}

function callerOf(calls: LaneCall[], of: number): number {
    let i = of;
    while (i >= 0 && calls[i].depth >= calls[of].depth) i--;
    return i;
}

const inclusive = (call: LaneCall) => (call.leave_ns ?? call.enter_ns) - call.enter_ns;

/* lostNs: what the call of the record lost. Null when the lane does not have it. */
export function treeOfLane(lane: Lane | undefined, lostNs: number): RecordTree | null {
    const calls = lane?.calls ?? [];
    const own = calls.findIndex((c) => c.is_this);
    if (own < 0) return null;
    const caller = below(calls, own).length ? -1 : callerOf(calls, own);
    const hasCaller = caller >= 0 && calls[caller].leave_ns !== null;
    const root = hasCaller ? caller : own;
    const names: string[] = [];
    const numberOf = new Map<string, number>();
    const region = (name: string) => {
        if (!numberOf.has(name)) numberOf.set(name, names.push(name) - 1);
        return numberOf.get(name)!;
    };
    const nodes: TreeNode[] = [];
    const nodeOf = new Map<string, number>(); /* parent and region -> node */
    const stack: number[] = []; /* nodes of the calls that are open, by depth */
    const list = [root, ...below(calls, root)];
    for (const i of list) {
        const call = calls[i];
        const depth = call.depth - calls[root].depth;
        stack.length = Math.min(stack.length, depth);
        const parent = i === root ? -1 : stack[stack.length - 1];
        const key = `${parent}/${region(call.func)}`;
        let at = nodeOf.get(key);
        if (at === undefined) {
            at =
                nodes.push({
                    parent,
                    region: region(call.func),
                    calls: 0,
                    inclusive_ns: 0,
                    exclusive_ns: 0,
                    usual_ns: 0,
                    usual_calls: 0,
                    excess_ns: 0,
                    rarity: 0,
                    call: i,
                    location: 0,
                }) - 1;
            nodeOf.set(key, at);
        }
        const node = nodes[at];
        node.calls++;
        node.inclusive_ns += inclusive(call);
        node.exclusive_ns += inclusive(call);
        if (parent >= 0) nodes[parent].exclusive_ns -= inclusive(call);
        if (call.is_this) node.excess_ns += lostNs;
        if (call.is_anomaly) node.rarity = certain;
        stack.push(at);
    }
    for (const node of nodes) node.exclusive_ns = Math.max(0, node.exclusive_ns);
    return { nodes, names, isCaller: hasCaller, nCalls: list.length };
}
