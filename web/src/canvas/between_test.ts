import assert from "node:assert/strict";
import test from "node:test";
import { distanceOf } from "./between";

//      0    10        20    25
//      [first]
//                     [second]
test("from the end of the first to the begin of the second, and between begins and ends", () => {
    const of = distanceOf([0, 10], [20, 25]);
    assert.deepEqual(of, {
        isGap: true,
        isSwapped: false,
        span: [10, 20],
        ns: 10,
        begins_ns: 20,
        ends_ns: 15,
    });
});

test("whichever was chosen first: the gap is the same, the other distances count from the first", () => {
    const of = distanceOf([20, 25], [0, 10]);
    assert.deepEqual([of.isGap, of.isSwapped, of.span], [true, true, [10, 20]]);
    assert.deepEqual([of.begins_ns, of.ends_ns], [-20, -15]);
});

test("calls that are there at the same time have no gap but a time that they share", () => {
    assert.deepEqual(distanceOf([0, 10], [4, 25]).span, [4, 10]);
    assert.deepEqual(distanceOf([0, 30], [4, 25]).span, [4, 25]);
    assert.equal(distanceOf([0, 30], [4, 25]).isGap, false);
});

test("a call that begins as the other ends has a gap of 0", () => {
    const of = distanceOf([0, 10], [10, 12]);
    assert.deepEqual([of.isGap, of.ns], [true, 0]);
});
