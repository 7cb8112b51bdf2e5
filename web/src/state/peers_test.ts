import assert from "node:assert/strict";
import test from "node:test";
import { medianOf } from "../canvas/median";
import { besideOf, elsewhere, executionAt, middleBeside } from "./peers";

/*  rank 0: tree 0, 1   rank 1: tree 2, 3   rank 1, thread 4: tree 4 */
const details = {
    rank: Uint32Array.of(0, 0, 1, 1, 1),
    thread: Uint32Array.of(0, 0, 0, 0, 4),
    index: Uint32Array.of(0, 1, 0, 1, 1),
    vertices: new Uint32Array(5),
    messages: new Uint32Array(5),
};

test("the others of a rank are told from those that have the same number elsewhere", () => {
    assert.deepEqual(besideOf(details, 2), { own: [3], then: [0], where: "other rank" });
    assert.deepEqual(besideOf(details, 3), { own: [2], then: [1, 4], where: "other thread" });
    assert.deepEqual(besideOf(details, 4), { own: [], then: [1, 3], where: "other thread" });
});

test("others are on other ranks only where no two of them are threads of one", () => {
    const at = (rank: number, thread: number) => ({ rank, thread });
    assert.equal(elsewhere(at(0, 0), [at(1, 0), at(2, 3)]), "other rank");
    assert.equal(elsewhere(at(0, 0), [at(1, 0), at(1, 0)]), "other rank", "twice the same");
    assert.equal(elsewhere(at(0, 0), [at(0, 1)]), "other thread");
    assert.equal(elsewhere(at(0, 0), [at(1, 0), at(1, 1)]), "other thread");
});

test("the median is one of the values; there is none of nothing", () => {
    assert.equal(medianOf([9, 1, 5]), 5);
    assert.equal(medianOf([4, 1, 9, 5]), 4);
    assert.equal(medianOf([]), null);
});

test("a call is in the execution of its rank and thread that holds all of it", () => {
    const times = {
        enter_ns: Float64Array.of(0, 10, 0, 10, 10),
        duration_ns: Float64Array.of(10, 10, 10, 10, 10),
    };
    const at = (rank: number, thread: number, enter_ns: number, leave_ns: number) =>
        executionAt(details, times, { rank, thread }, { enter_ns, leave_ns });
    assert.equal(at(1, 0, 12, 20), 3);
    assert.equal(at(1, 4, 12, 20), 4);
    assert.equal(at(1, 0, 8, 12), null, "it is in two");
    assert.equal(at(2, 0, 1, 2), null);
});

test("of who is beside a rank the execution in its middle is taken, the nearest first", () => {
    const three = { ...details, rank: Uint32Array.of(5, 5, 5, 9, 9, 9, 4, 4, 4) };
    const thread = new Uint32Array(9);
    const index = Uint32Array.of(0, 1, 2, 0, 1, 2, 0, 1, 2);
    assert.deepEqual(middleBeside({ ...three, thread, index }, 5), [7, 4]);
    assert.deepEqual(middleBeside({ ...three, thread, index }, 8), [], "there is no such rank");
});
