import assert from "node:assert/strict";
import test from "node:test";
import { Location } from "../api/types";
import { lanesBeside, mostLanes, printLanes, readLanes } from "./lanes";

/* Two threads each: location 2 r is rank r, 2 r + 1 its thread 1. */
const locations = Array.from({ length: 2000 }, (_, id) => ({
    id,
    rank: id >> 1,
    thread: id & 1,
})) as Location[];

test("what is printed is read again", () => {
    const lanes = [0, 2, 4, 14, 25];
    assert.equal(printLanes(lanes, locations), "0-2, 7, 12.1");
    assert.deepEqual(readLanes("0-2, 7, 12.1", locations), lanes);
});

test("a rank is its first thread, unless all are asked for", () => {
    assert.deepEqual(readLanes("9", locations), [18]);
    assert.deepEqual(readLanes("9.*", locations), [18, 19]);
});

test("what is no list of ranks, or of none that there are, is refused", () => {
    for (const text of ["", "all", "3-", "-3", "5000"])
        assert.equal(readLanes(text, locations), null, text);
});

test("there is room for so many", () => {
    assert.equal(readLanes("0-999", locations)!.length, mostLanes);
});

test("neighbours are of the same thread, and end where ranks do", () => {
    assert.deepEqual(lanesBeside(10, 2, locations), [6, 8, 10, 12, 14]);
    assert.deepEqual(lanesBeside(1, 1, locations), [1, 3]);
});
