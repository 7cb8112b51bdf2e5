import assert from "node:assert/strict";
import { test } from "node:test";
import {
    heatOf,
    measured,
    MessageMatrix,
    pairAt,
    pairsBy,
    ranksOfRow,
    rowName,
    totalOf,
} from "./message_matrix";

/* Five ranks in rows of two: 0 and 1, 4 and 7, 9. */
const matrix: MessageMatrix = {
    rows: 3,
    ranks_per_row: 2,
    unmatched: 0,
    is_estimate: false,
    rank: Uint32Array.from([0, 1, 4, 7, 9]),
    from: Uint32Array.from([0, 0, 2]),
    to: Uint32Array.from([0, 2, 1]),
    messages: Float64Array.from([2, 4, 1]),
    bytes: Float64Array.from([16, 8, 100]),
    transfer_ns: Float64Array.from([10, 100, 40]),
    longest_ns: Float64Array.from([9, 30, 40]),
    wait_ns: Float64Array.from([0, 5, 0]),
    longest_wait_ns: Float64Array.from([0, 3, 0]),
};

test("a cell has what was sent from its row to its column", () => {
    const { rows, width, value } = heatOf(matrix, "bytes");
    assert.deepEqual([rows, width], [3, 3]);
    assert.deepEqual(Array.from(value), [16, 0, 8, 0, 0, 0, 0, 100, 0]);
    assert.deepEqual(
        Array.from(heatOf(matrix, "mean_ns").value),
        [5, 0, 25, 0, 0, 0, 0, 40, 0],
    );
});

test("rows say which ranks they are of, the last one of those that are left", () => {
    assert.deepEqual(ranksOfRow(matrix, 1), [4, 7]);
    assert.deepEqual(ranksOfRow(matrix, 2), [9]);
    assert.equal(rowName(matrix, 1), "ranks 4-7");
    assert.equal(rowName(matrix, 2), "rank 9");
});

test("pairs are found, and ordered by what is measured", () => {
    assert.equal(pairAt(matrix, 2, 1), 2);
    assert.equal(pairAt(matrix, 1, 2), -1);
    assert.deepEqual(pairsBy(matrix, "bytes"), [2, 0, 1]);
    assert.deepEqual(pairsBy(matrix, "messages"), [1, 0, 2]);
    assert.equal(measured(matrix, "mean_ns", 1), 25);
    assert.equal(totalOf(matrix.messages), 7);
});
