import assert from "node:assert/strict";
import { test } from "node:test";
import { cellAt, fewerRows, heatPixels, rowOf } from "./heat";

const heat = { rows: 2, width: 3, value: Float64Array.from([0, 1, 4, 0, 0, 2]) };

test("nothing is transparent, the highest is the brightest", () => {
    const { rgba, highest } = heatPixels(heat);
    assert.equal(highest, 4);
    assert.deepEqual(
        [0, 1, 2, 3, 4, 5].map((i) => rgba[4 * i + 3]),
        [0, 255, 255, 0, 0, 255],
    );
    assert.deepEqual(Array.from(rgba.subarray(8, 12)), [255, 234, 70, 255]);
});

test("a place is a cell, also beside the picture", () => {
    assert.deepEqual(cellAt(2, 3, 0, 0), { row: 0, column: 0 });
    assert.deepEqual(cellAt(2, 3, 2.97, 1), { row: 1, column: 2 });
    assert.deepEqual(cellAt(2, 3, -5, 2), { row: 1, column: 0 });
});

test("against what has the last colour, what is little stays pale", () => {
    const pale = heatPixels({ rows: 1, width: 1, value: Float64Array.of(0.04) }, undefined, 1);
    assert.equal(pale.highest, 1);
    const [r, g, b] = pale.rgba;
    assert.ok(b > r && b > g, "still blue");
});

test("one row among 1,000 is in the picture of 100", () => {
    const many = { rows: 1000, width: 2, value: new Float64Array(2000) };
    many.value[2 * 612 + 1] = 0.5;
    const few = fewerRows(many, 120);
    assert.deepEqual([few.rows, few.per], [112, 9]);
    assert.equal(few.value[2 * 68 + 1], 0.5);
    assert.equal(rowOf(many, few.per, { row: 68, column: 1 }), 612);
    assert.equal(rowOf(many, few.per, { row: 111, column: 0 }), 999);
    assert.deepEqual(fewerRows(heat, 120).value, heat.value);
});
