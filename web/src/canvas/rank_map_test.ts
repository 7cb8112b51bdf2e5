import assert from "node:assert/strict";
import test from "node:test";
import { Rgb } from "../format/palette";
import {
    cellNs,
    mapPixels,
    mostOf,
    orderRows,
    pixelRows,
    RankMap,
    rowsOfPixel,
} from "./rank_map";

const map = (shade: number[][]): RankMap => ({
    width: shade[0].length,
    begin_ns: 0,
    end_ns: 100,
    highest_ns: 1000,
    shade: Uint8Array.from(shade.flat()),
    total_ns: Float64Array.from(shade.map((row) => row.reduce((a, b) => a + b))),
});
const hot: Rgb = [213, 94, 0];

test("one dark cell among many rows is seen, wherever it is", () => {
    const n = 1000;
    for (const at of [0, 499, 612, 999]) {
        const rows = Array.from({ length: n }, (_, i) => [0, i === at ? 255 : 0]);
        const pixels = mapPixels(map(rows), [...rows.keys()], 37, hot);
        const seen = [...Array(37).keys()].filter((y) => pixels[4 * (2 * y + 1) + 3] === 255);
        assert.equal(seen.length, 1);
        const [from, until] = rowsOfPixel(seen[0], 37, n);
        assert.ok(at >= from && at < until);
    }
});

test("pixels stand for all rows, each once", () => {
    for (const [pixels, n] of [
        [7, 7],
        [3, 10],
        [400, 10000],
    ]) {
        const of = [...Array(pixels).keys()].map((y) => rowsOfPixel(y, pixels, n));
        assert.equal(of[0][0], 0);
        assert.equal(of.at(-1)![1], n);
        of.slice(1).forEach(([from], i) => assert.equal(from, of[i][1]));
    }
    assert.equal(pixelRows(1000, 300.7), 300);
    assert.equal(pixelRows(3, 300), 3);
});

test("rows are ordered by what they hold, and nothing is transparent but nothing", () => {
    const it = map([
        [0, 10],
        [200, 0],
        [10, 0],
    ]);
    assert.deepEqual(orderRows([0, 1, 2], it.total_ns, true), [1, 0, 2]);
    assert.deepEqual(orderRows([0, 1, 2], it.total_ns, false), [0, 1, 2]);
    const pixels = mapPixels(it, [1, 0], 2, hot);
    const alpha = [3, 7, 11, 15].map((i) => pixels[i]);
    assert.equal(alpha[1], 0);
    assert.equal(alpha[2], 0);
    assert.ok(alpha[3] > 0 && alpha[3] < 30 && alpha[0] > 190 && alpha[0] < 255);
    assert.equal(Math.round(cellNs(it, 1, 0)), Math.round((200 / 255) ** 2 * 1000));
});

test("of an area with too many rows those are taken that hold most in it", () => {
    const it = map([
        [1, 0],
        [0, 9],
        [5, 0],
        [3, 0],
    ]);
    assert.deepEqual(mostOf(it, [0, 1, 2, 3], [0, 1], 2), [2, 3]);
    assert.deepEqual(mostOf(it, [0, 1], [0, 1], 2), [0, 1]);
});
