import assert from "node:assert/strict";
import test from "node:test";
import { joinColumns, RunRows, rowsOf } from "./compared_rows";

test("columns of runs are put together as they are", () => {
    const joined = joinColumns([Uint32Array.of(1, 2), Uint32Array.of(7)]);
    assert.ok(joined instanceof Uint32Array);
    assert.deepEqual([...joined], [1, 2, 7]);
    assert.deepEqual([...joinColumns([Int8Array.of(-1), Int8Array.of()])], [-1]);
});

test("a row says which run it is of", () => {
    const rows = [
        { first: 0, n: 3 },
        { first: 3, n: 0 },
        { first: 3, n: 2 },
    ] as RunRows[];
    assert.equal(rowsOf(2, rows), rows[0]);
    assert.equal(rowsOf(3, rows), rows[2]);
    assert.equal(rowsOf(5, rows), null);
});
