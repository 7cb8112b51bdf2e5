import assert from "node:assert/strict";
import { test } from "node:test";
import { append, drawnOf, LivePoints, pointsOf } from "./live_points";

function made(first: number, verdicts: number[]): LivePoints {
    const n = verdicts.length;
    const whole = (f: (i: number) => number) =>
        Float64Array.from({ length: n }, (_, i) => f(i));
    const numbers = new Uint32Array(n);
    return pointsOf({
        header: {},
        columns: {
            id: whole((i) => first + i),
            enter_ns: whole((i) => 10 * (first + i)),
            duration_ns: whole(() => 1),
            exclusive_ns: whole(() => 1),
            rank: numbers,
            program: numbers,
            thread: numbers,
            region: numbers,
            messages: numbers,
            vertices: numbers,
            score: new Float32Array(n),
            verdict: Uint8Array.from(verdicts),
            kind: new Uint8Array(n),
        },
    });
}

test("new points come behind old ones, column by column", () => {
    const { points: all } = append(made(0, [0, 1]), made(2, [1]), 0, 100);
    assert.equal(all.n, 3);
    assert.deepEqual(Array.from(all.id), [0, 1, 2]);
    assert.deepEqual(Array.from(all.enter_ns), [0, 10, 20]);
    assert.deepEqual(Array.from(all.verdict), [0, 1, 1]);
    assert.ok(all.verdict instanceof Uint8Array);
});

test("when they ended is when they began and how long they took, of old and new ones", () => {
    const { points: all } = append(made(0, [0, 1]), made(2, [1]), 0, 100);
    assert.deepEqual(Array.from(all.exit_ns), [1, 11, 21]);
});

test("what the server has forgotten is forgotten", () => {
    const { points: all } = append(made(0, [0, 1, 0]), made(3, [0]), 2, 100);
    assert.deepEqual(Array.from(all.id), [2, 3]);
});

test("of too many the oldest normal ones go first", () => {
    const { points: all, left } = append(made(0, [1, 0, 0, 0, 1]), made(5, [0, 0]), 0, 5);
    assert.deepEqual(Array.from(all.id), [0, 3, 4, 5, 6]);
    assert.equal(left, 2);
    const few = append(made(0, [1, 1, 0]), made(3, [1, 1]), 0, 3);
    assert.deepEqual(Array.from(few.points.id), [1, 3, 4]);
    assert.equal(few.left, 2);
    assert.equal(append(made(0, [1, 1]), made(2, [0]), 1, 3).left, 0, "forgotten, not left");
});

test("what is not judged is no anomaly, and stays so when more comes", () => {
    const { points: all } = append(made(0, [2, 1]), made(2, [0, 2]), 0, 100);
    assert.deepEqual(Array.from(all.verdict), [0, 1, 0, 0]);
    assert.deepEqual(Array.from(all.isJudged), [0, 1, 1, 0]);
});

test("what is drawn is counted: anomalies and a share of the others, of the newest time alone", () => {
    const all = made(0, [1, 0, 2, 0, 1, 2]); /* entered at 0, 10, ... 50 */
    const of = (percent: number, windowNs: number | null) => {
        const { order, firstKept, anomalies, unjudged } = drawnOf(all, percent, windowNs);
        return [[...order].slice(firstKept), order.length, anomalies, unjudged];
    };
    assert.deepEqual(of(100, null), [[0, 4], 6, 2, 2]);
    assert.deepEqual(of(0, null), [[0, 4], 2, 2, 0]);
    assert.deepEqual(of(100, 20), [[4], 3, 1, 1]);
    assert.deepEqual(of(0, 5), [[], 0, 0, 0]);
});
