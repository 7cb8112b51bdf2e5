import assert from "node:assert/strict";
import { test } from "node:test";
import { append, LivePoints, pointsOf } from "./live_points";

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
    const all = append(made(0, [0, 1]), made(2, [1]), 0, 100);
    assert.equal(all.n, 3);
    assert.deepEqual(Array.from(all.id), [0, 1, 2]);
    assert.deepEqual(Array.from(all.enter_ns), [0, 10, 20]);
    assert.deepEqual(Array.from(all.verdict), [0, 1, 1]);
    assert.ok(all.verdict instanceof Uint8Array);
});

test("when they ended is when they began and how long they took, of old and new ones", () => {
    const all = append(made(0, [0, 1]), made(2, [1]), 0, 100);
    assert.deepEqual(Array.from(all.exit_ns), [1, 11, 21]);
});

test("what the server has forgotten is forgotten", () => {
    const all = append(made(0, [0, 1, 0]), made(3, [0]), 2, 100);
    assert.deepEqual(Array.from(all.id), [2, 3]);
});

test("of too many the oldest normal ones go first", () => {
    const all = append(made(0, [1, 0, 0, 0, 1]), made(5, [0, 0]), 0, 5);
    assert.deepEqual(Array.from(all.id), [0, 3, 4, 5, 6]);
    const few = append(made(0, [1, 1, 0]), made(3, [1, 1]), 0, 3);
    assert.deepEqual(Array.from(few.id), [1, 3, 4]);
});

test("what is not judged is no anomaly, and stays so when more comes", () => {
    const all = append(made(0, [2, 1]), made(2, [0, 2]), 0, 100);
    assert.deepEqual(Array.from(all.verdict), [0, 1, 0, 0]);
    assert.deepEqual(Array.from(all.isJudged), [0, 1, 1, 0]);
});
