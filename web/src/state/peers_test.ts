import assert from "node:assert/strict";
import test from "node:test";
import { medianOf } from "../canvas/median";
import { besideOf } from "./peers";

/*  rank 0: tree 0, 1   rank 1: tree 2, 3   rank 1, thread 4: tree 4 */
const details = {
    rank: Uint32Array.of(0, 0, 1, 1, 1),
    thread: Uint32Array.of(0, 0, 0, 0, 4),
    index: Uint32Array.of(0, 1, 0, 1, 1),
    vertices: new Uint32Array(5),
    messages: new Uint32Array(5),
};

test("the others of a rank are told from those that have the same number elsewhere", () => {
    assert.deepEqual(besideOf(details, 3), { own: [2], then: [1, 4] });
    assert.deepEqual(besideOf(details, 4), { own: [], then: [1, 3] });
});

test("the median is one of the values; there is none of nothing", () => {
    assert.equal(medianOf([9, 1, 5]), 5);
    assert.equal(medianOf([4, 1, 9, 5]), 4);
    assert.equal(medianOf([]), null);
});
