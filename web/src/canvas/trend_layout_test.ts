import assert from "node:assert/strict";
import test from "node:test";
import { labelStep, spanOf, stretchesOf } from "./trend_layout";

const change = (index: number) => ({
    number: index + 1,
    index,
    before_ns: 0,
    after_ns: 0,
    chance: 0.001,
});

test("stretches lie between changes, each with its mean and how far that is from the one before", () => {
    const ns = [10, 10, 10, 20, 20, 15, 15];
    const stretches = stretchesOf({ path: "step", ns, changes: [change(3), change(5)] });
    assert.deepEqual(
        stretches.map((s) => [s.from, s.to, s.mean_ns, s.change]),
        [
            [0, 2, 10, null],
            [3, 4, 20, 1],
            [5, 6, 15, -0.25],
        ],
    );
    assert.deepEqual(
        stretchesOf({ path: "new", ns: [0, 0, 5], changes: [change(2)] }).map((s) => s.change),
        [null, Infinity],
    );
    assert.equal(stretchesOf({ path: "flat", ns: [1], changes: [] }).length, 1);
});

test("an axis begins at nothing where values are near it, else shows how they differ", () => {
    assert.equal(spanOf([1, 100])[0], 0);
    const [low, high] = spanOf([1000, 1100]);
    assert.ok(low > 900 && low < 1000 && high > 1100 && high < 1200);
    const [one, more] = spanOf([7, 7]);
    assert.ok(one < 7 && more > 7);
    const [zero, above] = spanOf([0, 0]);
    assert.ok(zero === 0 && above > 0);
});

test("labels never need more room than there is", () => {
    for (const n of [1, 7, 40, 400])
        for (const width of [100, 600, 2000])
            assert.ok((n / labelStep(n, width, 40)) * 40 <= Math.max(width, 40 * 1.001));
});
