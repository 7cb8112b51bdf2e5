import assert from "node:assert/strict";
import { test } from "node:test";
import { cellAt, heatPixels } from "./heat";

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
