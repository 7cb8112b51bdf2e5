import "../fake/browser";
import assert from "node:assert/strict";
import { test } from "node:test";
import { spanOfDrag } from "../canvas/heat";
import { printCall, readCall } from "./live_call";
import { liveFields } from "./live_link";
import { anything, recordOrders, recordsAsked, recordsPath } from "./live_records";
import { printState, readState } from "./url";

const call = {
    kind: 1,
    isAnomaly: true,
    isJudged: true,
    rank: 3,
    program: 0,
    thread: 2,
    region: 5,
    index: 12,
    enter_ns: 3577941166,
    duration_ns: 8285562,
    exclusive_ns: 100,
    score: 15.25,
    record: null,
    func: null,
};

test("the call that is looked at goes into a link and back", () => {
    assert.deepEqual(readCall(printCall(call)), call);
    const record = { ...call, kind: 0, index: null, score: null, record: 77 };
    assert.deepEqual(readCall(printCall(record)), record);
    const open = { ...record, isAnomaly: false, isJudged: false };
    assert.deepEqual(readCall(printCall(open)), open);
    assert.equal(printCall(null), null);
});

test("what is not such a call is none", () => {
    for (const text of [null, "", "1,2", "1,0,3,0,2,5,12,x,1,1,1,", "1,0,-3,0,2,5,12,1,1,1,1,"])
        assert.equal(readCall(text), null);
});

test("records are asked for by what is chosen on the page", () => {
    const path = recordsPath(anything, { rank: 3, region: null, span: [10.4, 99.6] });
    assert.equal(
        path,
        "/live/records?collection=anomalies&order=severity&offset=0&rank=3&from=10&to=100&limit=20",
    );
});

test("every order of records goes into a link and back", () => {
    for (const order of recordOrders) {
        recordsAsked.value = { ...anything, order, offset: 20 };
        const hash = printState(liveFields);
        recordsAsked.value = anything;
        readState(liveFields, hash);
        assert.deepEqual(recordsAsked.value, { ...anything, order, offset: 20 });
    }
});

test("a drag chooses whole columns, whichever way it goes", () => {
    const heat = { width: 10, begin_ns: 100, bin_ns: 5 };
    assert.deepEqual(spanOfDrag(heat, 2.1, 3.9), [110, 120]);
    assert.deepEqual(spanOfDrag(heat, 3.9, 2.1), [110, 120]);
    assert.deepEqual(spanOfDrag(heat, 9.5, 30), [145, 150]);
    assert.deepEqual(spanOfDrag(heat, 10, 10), [145, 150]);
});
