// explain.mjs -- call-path trees and reasons for the mock server.

import { fullName } from "./program.mjs";

/* The calls of an execution, one node per path: siblings by time, in preorder. */
function collapse(program, e) {
    const calls = program.locations[e.location].calls;
    const build = (rows, path) => {
        const children = new Map();
        let inclusive = 0;
        let exclusive = 0;
        let longest = rows[0];
        for (const row of rows) {
            const call = calls[row];
            inclusive += call.leave_ns - call.enter_ns;
            exclusive += call.exclusive_ns;
            if (
                call.leave_ns - call.enter_ns >
                calls[longest].leave_ns - calls[longest].enter_ns
            )
                longest = row;
            for (let c = row + 1; c < calls.length && calls[c].depth > call.depth; c++)
                if (calls[c].parent === row)
                    children.set(calls[c].region, [
                        ...(children.get(calls[c].region) ?? []),
                        c,
                    ]);
        }
        return {
            path,
            region: calls[rows[0]].region,
            calls: rows.length,
            inclusive_ns: inclusive,
            exclusive_ns: exclusive,
            call: longest,
            children: [...children].map(([region, list]) => build(list, `${path}/${region}`)),
        };
    };
    return build([e.call], "0");
}

function flatten(root) {
    const nodes = [];
    const add = (node, parent) => {
        const index = nodes.length;
        nodes.push({ ...node, parent });
        node.children
            .sort((a, b) => b.inclusive_ns - a.inclusive_ns)
            .forEach((child) => add(child, index));
    };
    add(root, -1);
    return nodes;
}

function strip({ path: _path, children: _children, ...node }) {
    return node;
}

export function typical(program) {
    const common = program.executions.filter(
        (e) => !e.isFirst && !e.isTally && !e.isDelayed,
    )[3];
    const nodes = flatten(collapse(program, common));
    return {
        byPath: new Map(nodes.map((n) => [n.path, n])),
        nodes: nodes.map((n) => ({
            ...strip(n),
            usual_ns: n.exclusive_ns,
            usual_calls: n.calls,
            excess_ns: 0,
            rarity: 0,
            location: common.location,
        })),
    };
}

function compared(program, e, usualTree) {
    return flatten(collapse(program, e)).map((n) => {
        const usual = usualTree.byPath.get(n.path);
        return {
            ...n,
            usual_ns: usual ? usual.exclusive_ns : null,
            usual_calls: usual ? usual.calls : 0,
            excess_ns: n.exclusive_ns - (usual?.exclusive_ns ?? 0),
            rarity: usual ? 0 : 6,
            location: e.location,
        };
    });
}

export function callTree(program, e, usualTree) {
    return { nodes: compared(program, e, usualTree).map(strip) };
}

export function sketch(program, e, usualTree) {
    const nodes = compared(program, e, usualTree);
    const excess = nodes.reduce((sum, n) => sum + Math.max(0, n.excess_ns), 0) || 1;
    const depth = (n) => (n.parent < 0 ? 0 : 1 + depth(nodes[n.parent]));
    return nodes
        .slice(0, 40)
        .map((n) => [
            depth(n),
            n.inclusive_ns / nodes[0].inclusive_ns,
            n.region,
            Math.max(0, n.excess_ns) / excess,
        ]);
}

const shortOf = (full) => /([^\s:(]+)(?:\(|$)/.exec(full)[1];
const ms = (ns) => `${(ns / 1e6).toFixed(2)} ms`;

/* From rank 3 over 4 to 5, where FLUSH lost the time. */
function chain(program, e) {
    if (!e.isDelayed) return [];
    return [3, 4, 5]
        .filter((rank) => rank >= e.rank)
        .map((rank) => {
            const other = program.executions.find(
                (o) => o.rank === rank && o.index === e.index,
            );
            const calls = program.locations[rank].calls;
            const name = rank === 5 ? "FLUSH" : "MPI_Wait";
            const inside = calls
                .filter(
                    (c) =>
                        c.row >= other.call &&
                        c.row < other.call + other.vertices &&
                        program.names[c.region] === name,
                )
                .sort((a, b) => b.exclusive_ns - a.exclusive_ns)[0];
            return {
                rank,
                thread: 0,
                call: inside.row,
                function: fullName(name),
                path: ["compute", "forward_comm_pair", name].map(fullName),
                begin_ns: inside.enter_ns,
                end_ns: inside.leave_ns,
                time_ns: inside.exclusive_ns,
                calls: 1,
                explained_ns: inside.exclusive_ns,
                waits_for: rank === 5 ? null : "sender",
                peer: rank === 5 ? null : rank + 1,
                late: rank !== 5,
                delay_ns: rank === 5 ? null : inside.exclusive_ns,
                guessed: false,
            };
        });
}

export function explain(program, e, usual, usualTree) {
    const nodes = compared(program, e, usualTree);
    const namesOf = (n) => [
        ...(n.parent < 0 ? [] : namesOf(nodes[n.parent])),
        fullName(program.names[n.region]),
    ];
    const paths = nodes
        .map((n) => ({
            path: namesOf(n),
            calls: n.calls,
            usual_calls: n.usual_calls,
            exclusive_ns: n.exclusive_ns,
            usual_ns: n.usual_ns ?? 0,
            excess_ns: n.excess_ns,
            sure_excess_ns: Math.max(0, n.excess_ns),
            largest_residual: n.excess_ns > 1e5 ? 6 : 1,
        }))
        .sort((a, b) => b.sure_excess_ns - a.sure_excess_ns);
    const over = e.duration_ns - usual.duration;
    const top = paths[0];
    const links = chain(program, e);
    return {
        paths,
        cause: links,
        cause_end: links.length ? "not_waiting" : null,
        structure: null,
        why:
            over > 1e4
                ? `${ms(over)} over what its calls usually take: ${top.path.slice(-2).map(shortOf).join(" > ")} +${ms(top.excess_ns)}`
                : "nothing unusual in it",
    };
}

/* What there is of it only here, or not as long elsewhere. */
export function subtrees(program, e) {
    const calls = program.locations[e.location].calls;
    const inside = calls.filter((c) => c.row >= e.call && c.row < e.call + e.vertices);
    return ["FLUSH", "ev_tally", "MPI_Type_size"].flatMap((name, k) => {
        const own = inside.filter((c) => program.names[c.region] === name);
        return own.length
            ? [
                  {
                      importance: 4 - k / 10,
                      subtree: name,
                      function: fullName(name),
                      degree: 0,
                      calls: own.length,
                      usual_calls: 0,
                      inclusive_ns: own.reduce((sum, c) => sum + c.leave_ns - c.enter_ns, 0),
                      usual_ns: 0,
                      vertices_here: own.map((c) => c.row - e.call),
                  },
              ]
            : [];
    });
}
