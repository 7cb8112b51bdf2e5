import assert from "node:assert/strict";
import test from "node:test";
import { unknownColour } from "../format/palette";
import { TreeNode } from "../api/types";
import { lookup } from "./callers";
import { excessColour, excessOf, excessShare, usualOf, wholesOf } from "./excess";
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

test("a call is compared with what is usual on its own rank, where that is known", () => {
    const nodes = [
        { ...node(-1, 1, 1, 1000), exclusive_ns: 400 },
        { ...node(0, 2, 2, 600), exclusive_ns: 600 },
    ];
    const there = [{ location: 0, own_ns: [[1, 2400]] as [number, number][] }];
    const local = usualOf(nodes, 100, there)!;
    const excess = excessOf(calls, lookup(calls), local);
    assert.deepEqual([...excess].slice(1, 4), [1900 - 2800, 0, -900]);
    const whole = usualOf(nodes, 100, there, new Map([[0, 1700]]))!;
    assert.equal(excessOf(calls, lookup(calls), whole)[1], 200);
    const elsewhere = usualOf(nodes, 100, [{ ...there[0], location: 7 }])!;
    assert.equal(excessOf(calls, lookup(calls), elsewhere)[1], 900);
});

test("the usual whole of a rank is the median of its executions, if it has enough", () => {
    const duration = Float64Array.from({ length: 70 }, (_, i) => (i < 31 ? 100 + i : 9));
    const wholes = wholesOf(duration, (tree) => (tree < 31 ? 4 : tree < 60 ? 5 : undefined));
    assert.deepEqual([...wholes], [[4, 115]]);
});
