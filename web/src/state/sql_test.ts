// Which values of an answer lead to an execution: of the function that is shown, never to another than the row's.
import "../fake/browser";
import assert from "node:assert/strict";
import { test } from "node:test";
import { Run } from "../api/types";
import { executionOf, sqlExamples, SqlValue } from "./sql";
import { details, Details, executions, Executions, foiId, run } from "./store";

/*
 * tree      0     1     2
 *           #0-0  #0-1  #0.2-1
 */
details.value = {
    rank: Uint32Array.of(0, 0, 0),
    thread: Uint32Array.of(0, 0, 2),
    index: Uint32Array.of(0, 1, 1),
} as Details;
executions.value = { n: 3 } as Executions;

function show(names: string[], shown: number): void {
    const fois = names.map((name, i) => ({ id: i + 1, name, projections: [] }));
    run.value = { fois } as unknown as Run;
    foiId.value = shown;
}

function treeOf(row: Record<string, SqlValue>, column = "id"): number | null {
    const columns = Object.keys(row);
    const of = { columns, row: Object.values(row) };
    return executionOf(of, columns.indexOf(column))?.() ?? null;
}

test("an id or the number of a tree leads to its execution, where there is one function", () => {
    show(["f"], 1);
    assert.equal(treeOf({ id: "#0-1" }), 1);
    assert.equal(treeOf({ id: "#0.2-1" }), 2);
    assert.equal(treeOf({ id: "f#0-1" }), 1);
    assert.equal(treeOf({ id: "g#0-1" }), null);
    assert.equal(treeOf({ tree: 2 }, "tree"), 2);
    assert.equal(treeOf({ tree: 3 }, "tree"), null);
    assert.equal(treeOf({ n: 2 }, "n"), null);
});

test("of several functions, the row has to say that it is of the one that is shown", () => {
    show(["f", "g"], 2);
    assert.equal(treeOf({ id: "#0-1" }), null);
    assert.equal(treeOf({ tree: 2 }, "tree"), null);
    assert.equal(treeOf({ id: "g#0-1" }), 1);
    assert.equal(treeOf({ id: "f#0-1" }), null);
    assert.equal(treeOf({ foi: 2, id: "#0-1" }), 1);
    assert.equal(treeOf({ foi: "g", tree: 2 }, "tree"), 2);
    assert.equal(treeOf({ foi: 1, id: "#0-1" }), null);
    assert.equal(treeOf({ foi: 1, tree: 2 }, "tree"), null);
});

test("ids of the examples have the thread, and of several functions the name", () => {
    const ids = () => sqlExamples.value.filter(({ sql }) => sql.includes(" AS id"));
    show(["f"], 1);
    assert.equal(ids().length, 4);
    assert.ok(ids().every(({ sql }) => sql.includes(".thread") && !sql.includes("name FROM")));
    show(["f", "g"], 1);
    assert.ok(ids().every(({ sql }) => sql.includes("(SELECT name FROM foi WHERE id = ")));
});
