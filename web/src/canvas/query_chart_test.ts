import assert from "node:assert/strict";
import { test } from "node:test";
import { chartOf, domainOf } from "./query_chart";

test("a name and a number are bars, whatever stands between them", () => {
    const chart = chartOf(
        ["region", "kind", "own_ns"],
        [
            ["a", "mpi", 3],
            ["b", "user", 4],
            ["c", null, null],
        ],
    );
    assert.deepEqual(chart, {
        kind: "bars",
        x: { title: "region", values: ["a", "b"] },
        y: { title: "own_ns", values: [3, 4] },
    });
});

test("two numbers are a line where the first ascends, else points", () => {
    const of = (x: number[]) =>
        chartOf(
            ["x", "y"],
            x.map((value, i) => [value, i]),
        )?.kind;
    assert.equal(of([1, 2, 5]), "line");
    assert.equal(of([1, 2, 2]), "points");
    assert.equal(of([3, 1]), "points");
});

test("there is nothing to draw of one row, of names alone, of a number before a name", () => {
    assert.equal(chartOf(["a", "n"], [["x", 1]]), null);
    assert.equal(
        chartOf(
            ["a", "b"],
            [
                ["x", "y"],
                ["z", "w"],
            ],
        ),
        null,
    );
    assert.equal(
        chartOf(
            ["n", "a"],
            [
                [1, "y"],
                [2, "w"],
            ],
        ),
        null,
    );
    assert.equal(chartOf([], []), null);
    assert.equal(chartOf(["a", "b"], []), null);
});

test("integers that come as texts are names", () => {
    const rows = [
        ["9007199254740992", 1],
        ["9007199254740993", 2],
    ];
    assert.equal(chartOf(["id", "n"], rows)?.kind, "bars");
});

test("an axis has 0 where it is not far, and always under bars", () => {
    assert.deepEqual(domainOf([1, 10], false), [0, 10]);
    assert.deepEqual(domainOf([9, 10], false), [9, 10]);
    assert.deepEqual(domainOf([9, 10], true), [0, 10]);
    assert.deepEqual(domainOf([-3, -1], true), [-3, 0]);
    assert.deepEqual(domainOf([5, 5], false), [4, 6]);
});
