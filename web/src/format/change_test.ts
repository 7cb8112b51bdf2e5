import assert from "node:assert/strict";
import test from "node:test";
import { changeColour, changeOf, formatCalls, formatChange, mostChange } from "./change";

/* Machado, Oliveira and Fernandes 2009, severity 1: how it looks to those without green, or red cones. */
const seen = {
    deuteranopia: [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.01182, 0.04294, 0.968881],
    ],
    protanopia: [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
};

const linear = (c: number) =>
    c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4;

function apart(a: number[], b: number[], matrix: number[][]): number {
    const as = (c: number[]) =>
        matrix.map((row) =>
            Math.cbrt(
                Math.max(
                    0,
                    row.reduce((sum, m, i) => sum + m * linear(c[i]), 0),
                ),
            ),
        );
    const [p, q] = [as(a), as(b)];
    return Math.hypot(...p.map((x, i) => x - q[i]));
}

test("slower, the same and faster are apart to all kinds of sight", () => {
    const [fast, same, slow] = [-0.3, 0, 0.3].map(changeColour);
    for (const matrix of Object.values(seen)) {
        assert.ok(apart(fast, slow, matrix) > 0.25);
        assert.ok(apart(fast, same, matrix) > 0.15);
        assert.ok(apart(slow, same, matrix) > 0.15);
    }
});

test("more change is another colour, until there is no more", () => {
    assert.notDeepEqual(changeColour(0.02), changeColour(0));
    assert.notDeepEqual(changeColour(0.2), changeColour(0.05));
    assert.deepEqual(changeColour(mostChange), changeColour(Infinity));
    assert.deepEqual(changeColour(-mostChange), changeColour(-1));
});

test("a change is of what it was", () => {
    assert.equal(changeOf(100, 150), 0.5);
    assert.equal(changeOf(0, 5), Infinity);
    assert.equal(changeOf(0, 0), 0);
    assert.deepEqual([0.124, -0.02, 0.0001, -0.0001, Infinity, null].map(formatChange), [
        "+12.4 %",
        "−2.0 %",
        "±0.0 %",
        "±0.0 %",
        "new",
        "new",
    ]);
    assert.deepEqual([4, 0.25, 1.2345, 100.5].map(formatCalls), ["4", "0.25", "1.23", "101"]);
});
