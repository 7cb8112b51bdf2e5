import assert from "node:assert/strict";
import test from "node:test";
import { holdsRow, isOnPath, lookup, pathOfCall } from "./callers";
import { Calls } from "./rows";

/* begin, end, location, depth, region, call, merged: main calls a and b, both call c */
const rectangles = [
    [0, 100, 0, 0, 0, 0, 1],
    [0, 40, 0, 1, 1, 1, 1],
    [40, 90, 0, 1, 2, 4, 1],
    [5, 10, 0, 2, 3, 2, 1],
    [40, 40, 0, 2, 3, 5, 1],
    [50, 60, 0, 2, 3, 8, 3],
    [90, 95, 0, 2, 3, 20, 1],
    [50, 60, 1, 2, 3, 8, 1],
];
const column = (k: number) => rectangles.map((r) => r[k]);
const calls: Calls = {
    n: rectangles.length,
    begin_ns: Float64Array.from(column(0)),
    end_ns: Float64Array.from(column(1)),
    location: Uint32Array.from(column(2)),
    depth: Uint16Array.from(column(3)),
    region: Uint32Array.from(column(4)),
    call: Uint32Array.from(column(5)),
    merged: Uint32Array.from(column(6)),
};
const of = lookup(calls);
const name = (region: number) => ["main", "a", "b", "c"][region];

test("a caller is the rectangle around a call, on its own location", () => {
    assert.equal(of.caller(3, 1), 1);
    assert.equal(of.caller(4, 1), 2);
    assert.equal(of.caller(5, 1), 2);
    assert.equal(of.caller(6, 1), -1);
    assert.equal(of.caller(7, 1), -1);
    assert.deepEqual(pathOfCall(calls, of, 5, 0), [0, 2, 3]);
    assert.deepEqual(pathOfCall(calls, of, 5, 1), [2, 3]);
    assert.equal(pathOfCall(calls, of, 7, 0), null);
});

test("a path is the whole path, not only its end", () => {
    const on = (path: string[]) =>
        rectangles.flatMap((_, i) => (isOnPath(calls, of, name, i, 0, path) ? [i] : []));
    assert.deepEqual(on(["main", "a", "c"]), [3]);
    assert.deepEqual(on(["main", "b", "c"]), [4, 5]);
    assert.deepEqual(on(["main", "b"]), [2]);
    assert.deepEqual(on(["c"]), []);
});

test("rows lie in their rectangle, or in what they were merged into", () => {
    const holding = (rows: number[]) =>
        [3, 4, 5, 6].filter((i) => holdsRow(calls, of, i, rows));
    assert.deepEqual(holding([2]), [3]);
    assert.deepEqual(holding([6]), [5]);
    assert.deepEqual(holding([5, 20]), [4, 6]);
    assert.deepEqual(holding([21]), []);
    assert.deepEqual(holding([]), []);
});
