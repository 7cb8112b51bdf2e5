import assert from "node:assert/strict";
import test from "node:test";
import { TreeNode } from "../api/types";
import { lookup } from "./callers";
import { excessColour, excessOf, excessShare, unknownColour, usualOf } from "./excess";
import { Calls } from "./rows";

const node = (parent: number, region: number, calls: number, inclusive_ns: number) =>
    ({ parent, region, calls, inclusive_ns }) as TreeNode;

/* Typical: step (region 1) of 1000 > 2 x solve (region 2) of 300 each */
const typical = [node(-1, 1, 1, 1000), node(0, 2, 2, 600)];

/*
 * main (0) [0, 5000) > step [0, 1900) > solve [0, 1200) solve [1200, 1500)
 *                                       other (3) [1500, 1600), and two solve that are drawn as one
 */
const calls: Calls = {
    n: 6,
    begin_ns: Float64Array.from([0, 0, 0, 1200, 1500, 1600]),
    end_ns: Float64Array.from([5000, 1900, 1200, 1500, 1600, 1800]),
    location: new Uint32Array(6),
    depth: Uint16Array.from([0, 1, 2, 2, 2, 2]),
    region: Uint32Array.from([0, 1, 2, 2, 3, 2]),
    call: Uint32Array.from([0, 1, 2, 3, 4, 5]),
    merged: Uint32Array.from([1, 1, 1, 1, 1, 2]),
};

test("a call is compared with the usual one of its path", () => {
    const usual = usualOf(typical, 100)!;
    const excess = [...excessOf(calls, lookup(calls), usual)];
    assert.deepEqual(excess, [NaN, 900, 900, 0, NaN, NaN]);
});

test("of few calls, and of none, nothing is usual", () => {
    const few = usualOf(typical, 4)!;
    assert.deepEqual([...excessOf(calls, lookup(calls), few)].slice(1, 4), [NaN, 900, 0]);
    assert.equal(usualOf([], 100), null);
    assert.deepEqual(excessColour(NaN, few), unknownColour);
});

test("the scale ends with the time of a typical execution, and has three decades", () => {
    const usual = usualOf(typical, 100)!;
    assert.equal(excessShare(-50, usual), 0);
    assert.equal(excessShare(1, usual), 0);
    assert.ok(Math.abs(excessShare(100, usual) - 2 / 3) < 1e-9);
    assert.equal(excessShare(1000, usual), 1);
    assert.equal(excessShare(90000, usual), 1);
});
