import assert from "node:assert/strict";
import test from "node:test";
import { Measured } from "../api/types";
import { areaRows, areaTable, sortRows } from "./timeline_area_rows";

const names = ["step", "solve", "a"];
const words = { name: (region: number) => names[region], kind: () => "own code" };
const kindOf = () => "user";

const item = (region: number, caller: number | null, own_ns: number) =>
    ({ region, caller, calls: 1, total_ns: 9, own_ns }) as Measured;

test("a call path is its callers and its function", () => {
    const items = [item(0, null, 1), item(1, 0, 5), item(2, 1, 3), item(2, 0, 2)];
    const rows = areaRows(items, "path", words);
    assert.deepEqual(
        rows.map(({ name }) => name),
        ["step", "step > solve", "step > solve > a", "step > a"],
    );
    const sorted = sortRows(rows, { key: "own_ns", isDown: true }, "path");
    assert.deepEqual(
        areaTable(sorted, "path", kindOf).rows.map(([path, , , , own]) => [path, own]),
        [
            ["step > solve", 5],
            ["step > solve > a", 3],
            ["step > a", 2],
            ["step", 1],
        ],
    );
});

test("ranks are ordered by their number, and an order by what there is no column of is by own time", () => {
    const of = (rank: number, own_ns: number) =>
        ({ rank, calls: 2, total_ns: own_ns, own_ns }) as Measured;
    const rows = areaRows([of(10, 1), of(9, 2), of(2, 3)], "rank", words);
    const ranks = (key: string, isDown = false) =>
        sortRows(rows, { key, isDown }, "rank").map((r) => r.of.rank);
    assert.deepEqual(ranks("name"), [2, 9, 10]);
    assert.deepEqual(ranks("name", true), [10, 9, 2]);
    assert.deepEqual(ranks("kind"), [2, 9, 10]);
    assert.deepEqual(areaTable(rows, "rank", kindOf).head, [
        "rank",
        "calls",
        "total_ns",
        "own_ns",
    ]);
});
