import assert from "node:assert/strict";
import { test } from "node:test";
import { columnsOf, logScale, unionOf, usualText } from "./histogram";

const model = {
    minimum_ns: 100,
    maximum_ns: 10000,
    usual_ns: [[100, 1000]] as [number, number][],
    bins: [
        [100, 110, 5],
        [920, 1100, 7],
        [9990, 10010, 1],
    ] as [number, number, number][],
};

test("durations lie on a logarithmic axis, from the least to the most", () => {
    const scale = logScale(model);
    assert.equal(scale.place(100), 0);
    assert.ok(Math.abs(scale.place(1000) - 0.5) < 1e-9);
    assert.equal(scale.place(1e12), 1);
    assert.ok(scale.ticks(5).length <= 5 && scale.ticks(5).includes(1000));
});

test("what else has to be seen widens it; bounds without end do not", () => {
    const wide = logScale({ ...model, usual_ns: [[10, 1e300]] }, [1e6]);
    assert.equal(wide.place(10), 0);
    assert.equal(wide.place(1e6), 1);
});

test("nothing is lost in the columns", () => {
    const counts = columnsOf(model, logScale(model), 10);
    assert.equal(
        counts.reduce((a, b) => a + b),
        13,
    );
    assert.equal(counts[9], 1);
    assert.equal(counts[5], 7);
});

test("stretches that overlap are one, and said in words", () => {
    const union = unionOf([
        [5000, 9000],
        [10, 100],
        [50, 2000],
    ]);
    assert.deepEqual(union, [
        [10, 2000],
        [5000, 9000],
    ]);
    assert.equal(usualText(union), "10 ns to 2.00 us, 5.00 us to 9.00 us");
    assert.equal(usualText([[10, 1e300]]), "from 10 ns");
    assert.equal(
        usualText([1, 2, 3, 4, 5, 6].map((x) => [10 * x, 10 * x + 1])),
        "10 ns to 11 ns, 20 ns to 21 ns, 30 ns to 31 ns, 40 ns to 41 ns and 2 more",
    );
});
