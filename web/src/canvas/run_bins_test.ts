import assert from "node:assert/strict";
import test from "node:test";
import { binsOf } from "./run_bins";

/* Executions of 10, one after the other from 0 on, on two ranks. */
const even = (n: number) => ({
    n: 2 * n,
    enter_ns: Array.from({ length: 2 * n }, (_, i) => 10 * Math.floor(i / 2)),
    duration_ns: Array(2 * n).fill(10),
    verdict: Array.from({ length: 2 * n }, (_, i) => Number(i === 5)),
});

test("an even run is even, however wide the picture", () => {
    for (const bins of [3, 7, 10, 31, 64])
        for (const many of binsOf(even(10), [0, 100], bins).many)
            assert.ok(Math.abs(many - 2) < 1e-9, `${bins} bins: ${many}`);
});

test("of a gap, and of what runs for a part of a bin, there is as much less", () => {
    const { many } = binsOf(even(5), [0, 100], 4);
    [2, 2, 0, 0].forEach((n, bin) => assert.ok(Math.abs(many[bin] - n) < 1e-9, `${bin}`));
    const one = { n: 1, enter_ns: [5], duration_ns: [10], verdict: [0] };
    assert.deepEqual([...binsOf(one, [0, 20], 2).many], [0.5, 0.5]);
});

test("anomalies are where they begin", () => {
    assert.deepEqual(
        [...binsOf(even(10), [0, 100], 10).strange],
        [0, 0, 1, 0, 0, 0, 0, 0, 0, 0],
    );
});
