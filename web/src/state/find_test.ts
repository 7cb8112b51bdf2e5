import assert from "node:assert/strict";
import test from "node:test";
import { Location, Region } from "../api/types";
import { itemsFor, Known } from "./find";
import { Executions } from "./store";

function region(id: number, name: string, calls: number): Region {
    return { id, name, short_name: name, calls } as Region;
}

/* tree 0 and 1 on rank 0, tree 2 on rank 7 */
const known: Known = {
    regions: [
        region(0, "b", 10),
        region(1, "absorb", 900),
        region(2, "solve", 5),
        region(3, "b_late", 0),
    ],
    locations: [
        { id: 0, rank: 0, thread: 0 },
        { id: 1, rank: 7, thread: 0 },
    ] as Location[],
    executions: { n: 3, duration_ns: Float64Array.of(5, 9, 7) } as unknown as Executions,
    details: {
        rank: Uint32Array.of(0, 0, 7),
        thread: new Uint32Array(3),
        index: Uint32Array.of(0, 1, 0),
        vertices: new Uint32Array(3),
        messages: new Uint32Array(3),
    },
    paths: [["step", "solve"], ["step"]],
};

const found = (text: string) => itemsFor(text, known).map(({ kind, name }) => [kind, name]);

test("the function of that very name comes before those that are called more often", () => {
    assert.deepEqual(found("b"), [
        ["function", "b"],
        ["longest", "b"],
        ["function", "absorb"],
    ]);
    assert.deepEqual(found("longest call of solve"), [["longest", "solve"]]);
});

const sought = (text: string) =>
    itemsFor(text, known).map((item) =>
        item.kind === "longest" || item.kind === "shortest"
            ? [item.kind, item.region, item.locations, item.nth]
            : item.kind,
    );

test("the longest or shortest calls of a function, of all or of one rank, from any place on", () => {
    assert.deepEqual(sought("longest solve"), [["longest", 2, undefined, undefined]]);
    assert.deepEqual(sought("Shortest  SOLVE"), [["shortest", 2, undefined, undefined]]);
    assert.deepEqual(sought("longest solve on rank 7"), [["longest", 2, [1], undefined]]);
    assert.deepEqual(sought("5th longest call of solve"), [["longest", 2, undefined, 5]]);
    assert.deepEqual(sought("2nd shortest solve on rank 0"), [["shortest", 2, [0], 2]]);
    assert.deepEqual(found("longest solve on rank 7"), [["longest", "solve on rank 7"]]);
    assert.deepEqual(sought("1st longest solve"), [["longest", 2, undefined, undefined]]);
});

test("there are none on a rank that is not there, and of a function that is not there", () => {
    assert.deepEqual(sought("longest solve on rank 3"), []);
    assert.deepEqual(sought("shortest nonexist"), []);
});

test("a number is a rank, with its slowest execution; with a dash an execution", () => {
    assert.deepEqual(found("rank 0"), [
        ["rank", "rank 0"],
        ["slowest", "slowest execution on rank 0"],
    ]);
    const [slowest] = itemsFor("slowest on rank 0", known);
    assert.deepEqual(slowest.kind === "slowest" && slowest.tree, 1);
    assert.deepEqual(found("#7-0"), [["execution", "execution #7-0"]]);
    assert.deepEqual(found("7-3"), []);
});

test("call paths are found by what is in them", () => {
    assert.deepEqual(found("p > sol"), [["path", "solve"]]);
});

test("nothing is found of nothing, and of what is not there", () => {
    assert.deepEqual(found(" "), []);
    assert.deepEqual(found("nonexist"), []);
    assert.deepEqual(found("rank 3"), []);
});
