import assert from "node:assert/strict";
import test from "node:test";
import { CallAt } from "../api/types";
import { Calls } from "./rows";
import { besideCall, callThen, windowWith } from "./call_steps";

const at = (enter_ns: number, leave_ns: number) =>
    ({ enter_ns, leave_ns, before: 1, after: null, parent: 0, first_child: 3 }) as CallAt;

test("arrows lead to what is beside, above and below a call", () => {
    assert.equal(besideCall(at(0, 1), "before"), 1);
    assert.equal(besideCall(at(0, 1), "after"), null);
    assert.equal(besideCall(at(0, 1), "up"), 0);
    assert.equal(besideCall(at(0, 1), "down"), 3);
    assert.equal(besideCall(at(0, 1), "lane-down"), null);
});

test("the window moves only for what is not in it", () => {
    assert.deepEqual(windowWith([100, 200], at(120, 130)), [100, 200]);
    assert.deepEqual(windowWith([100, 200], at(0, 500)), [100, 200]);
    assert.deepEqual(windowWith([100, 200], at(50, 60)), [40, 140]);
    assert.deepEqual(windowWith([100, 200], at(195, 210)), [120, 220]);
    const [begin, end] = windowWith([100, 200], at(300, 900));
    assert.ok(begin <= 300 && end > 300, "the begin of a long one");
});

/* location 1: main [0,100) > step [10,60) at row 4 */
const calls: Calls = {
    n: 2,
    begin_ns: Float64Array.from([0, 10]),
    end_ns: Float64Array.from([100, 60]),
    location: Uint32Array.from([1, 1]),
    depth: Uint16Array.from([0, 1]),
    region: Uint32Array.from([0, 1]),
    call: Uint32Array.from([2, 4]),
    merged: Uint32Array.from([1, 1]),
};

test("on another lane it is the call then, no deeper, or the nearest", () => {
    assert.equal(callThen(calls, 1, 30, 1), 4);
    assert.equal(callThen(calls, 1, 30, 0), 2);
    assert.equal(callThen(calls, 1, 80, 5), 2);
    assert.equal(callThen(calls, 1, 500, 5), 2);
    assert.equal(callThen(calls, 0, 30, 1), null);
});
