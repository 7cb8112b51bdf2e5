import assert from "node:assert/strict";
import test from "node:test";
import { TreeNode } from "../api/types";
import {
    arrangeLanes,
    comparedPairs,
    ComparedLane,
    ComparedSide,
    joinSides,
    wholeOf,
} from "./compared_calls";
import { Calls } from "./rows";
import { MessageColumns } from "./timeline_draw";

type Row = [location: number, depth: number, region: number, begin: number, end: number];

function callsOf(rows: Row[]): Calls {
    const column = (k: number) => rows.map((row) => row[k]);
    return {
        n: rows.length,
        location: Uint32Array.from(column(0)),
        depth: Uint16Array.from(column(1)),
        region: Uint32Array.from(column(2)),
        begin_ns: Float64Array.from(column(3)),
        end_ns: Float64Array.from(column(4)),
        call: Uint32Array.from(rows, (_, i) => i),
        merged: new Uint32Array(rows.length).fill(1),
    };
}

function node(parent: number, region: number, calls: number, inclusive_ns: number): TreeNode {
    return { parent, region, calls, inclusive_ns } as TreeNode;
}

function messages(from: number, to: number, send: number): MessageColumns {
    return {
        n: 1,
        send_ns: Float64Array.of(send),
        recv_ns: Float64Array.of(send + 1),
        from: Uint32Array.of(from),
        to: Uint32Array.of(to),
        send_call: Uint32Array.of(0),
        recv_call: Uint32Array.of(0),
    };
}

//  before, from 100:  step 0-100 { solve 10-50, solve 60-80 }        regions: step 0, solve 1
//  after, from 1000:  step 0-120 { solve 10-90, check 95-115 }, solve 130-140 outside of it     step 5, solve 7, check 9
const lane = (over: Partial<ComparedLane> & Pick<ComparedLane, "tree">): ComparedLane => ({
    location: 3,
    name: "rank 1",
    pair: -1,
    ...over,
});
const before: ComparedSide = {
    start_ns: 100,
    name: (region) => ["step", "solve"][region],
    calls: callsOf([
        [3, 0, 0, 100, 200],
        [3, 1, 1, 110, 150],
        [3, 1, 1, 160, 180],
    ]),
    messages: messages(3, 4, 120),
    lanes: [
        lane({
            tree: {
                begin_ns: 100,
                end_ns: 200,
                nodes: [node(-1, 0, 1, 100), node(0, 1, 2, 60)],
            },
        }),
    ],
};
const names = new Map([
    [5, "step"],
    [7, "solve"],
    [9, "check"],
]);
const after: ComparedSide = {
    start_ns: 1000,
    name: (region) => names.get(region)!,
    calls: callsOf([
        [6, 0, 5, 1000, 1120],
        [6, 0, 7, 1130, 1140],
        [6, 1, 7, 1010, 1090],
        [6, 1, 9, 1095, 1115],
    ]),
    messages: messages(6, 6, 1020),
    lanes: [
        lane({
            location: 6,
            tree: {
                begin_ns: 1000,
                end_ns: 1120,
                nodes: [node(-1, 5, 1, 120), node(0, 7, 1, 80), node(0, 9, 1, 20)],
            },
        }),
    ],
};

test("both executions begin at 0, the lanes of the one after come behind those of the one before", () => {
    const { calls, messages } = joinSides({ before, after });
    assert.equal(calls.n, 7);
    assert.deepEqual([...calls.begin_ns], [0, 10, 60, 0, 130, 10, 95]);
    assert.deepEqual([...calls.location], [0, 0, 0, 1, 1, 1, 1]);
    assert.deepEqual([...messages.send_ns], [20, 20]);
    assert.deepEqual([...messages.from], [0, 1]);
    assert.equal(messages.to[0], 2, "a lane that is not shown");
});

test("a function has one name, whatever number each run gives it", () => {
    const { calls, names } = joinSides({ before, after });
    assert.deepEqual(
        Array.from(calls.region, (region) => names[region]),
        ["step", "solve", "solve", "step", "solve", "solve", "check"],
    );
    assert.equal(calls.region[0], calls.region[3]);
});

test("of each call it is known what its path took in both; outside of the executions nothing is", () => {
    const { rows, row } = joinSides({ before, after });
    const of = Array.from(row, (r) => rows[r] ?? null);
    assert.deepEqual(of[1], {
        path: "step > solve",
        pair: -1,
        ns: [60, 80],
        calls: [2, 1],
    });
    assert.equal(of[2], of[1], "all calls of a path have its times");
    assert.equal(of[5], of[1]);
    assert.equal(of[4], null);
    assert.deepEqual(of[6]?.ns, [0, 20], "what one side does not have");
    assert.deepEqual(of[6]?.calls, [0, 1]);
});

test("below calls that are drawn as one it is not known which of them is the caller", () => {
    const [execution] = after.lanes;
    const nodes = [...execution.tree!.nodes!, node(1, 9, 1, 10)];
    const calls = callsOf([
        [6, 0, 5, 1000, 1120],
        [6, 1, 7, 1010, 1090],
        [6, 2, 9, 1020, 1030],
    ]);
    const pathOf = (merged: number) => {
        const { rows, row } = joinSides({
            before,
            after: {
                ...after,
                lanes: [{ ...execution, tree: { ...execution.tree!, nodes } }],
                calls: { ...calls, merged: Uint32Array.of(1, merged, 1) },
            },
        });
        return rows[row[5]]?.path;
    };
    assert.equal(pathOf(1), "step > solve > check");
    assert.equal(pathOf(2), undefined);
});

test("lanes are compared when both have an execution, and its paths are here", () => {
    const without = { ...after, lanes: [lane({ location: 6, tree: null })] };
    const coming = {
        ...after,
        lanes: [lane({ location: 6, tree: { begin_ns: 1000, end_ns: 1120, nodes: null } })],
    };
    const pairs = (side: ComparedSide) => [
        ...comparedPairs({ before: before.lanes, after: side.lanes }),
    ];
    assert.deepEqual(pairs(after), [-1]);
    assert.deepEqual(pairs(without), []);
    assert.deepEqual(pairs(coming), []);
    assert.ok(joinSides({ before, after: coming }).row[3] < 0);
});

test("times of lanes with another number are apart", () => {
    const other = {
        ...after,
        lanes: after.lanes.map((of) => ({ ...of, pair: 5 })),
    };
    const { rows, row } = joinSides({ before, after: other });
    assert.deepEqual(rows[row[0]].ns, [100, 0]);
    assert.deepEqual(rows[row[3]].ns, [0, 120]);
});

test("lanes stand run by run, or those that are compared below each other", () => {
    const of = {
        before: [{ pair: -1 }, { pair: 7 }, { pair: 8 }],
        after: [{ pair: -1 }, { pair: 8 }],
    };
    const numbers = (by: "run" | "rank") => arrangeLanes(of, by).map((l) => l.location);
    assert.deepEqual(numbers("run"), [0, 1, 2, 3, 4]);
    assert.deepEqual(numbers("rank"), [0, 3, 1, 2, 4]);
});

test("the whole is from the earlier begin of a run to the later end, from where executions begin", () => {
    const runs = [
        { start_ns: 100, whole: [0, 1000] as [number, number] },
        { start_ns: 300, whole: [0, 1100] as [number, number] },
    ];
    assert.deepEqual(wholeOf(runs), [-300, 900]);
});
