import assert from "node:assert/strict";
import test from "node:test";
import { ChangedPath } from "../api/compare_types";
import { pathsTable, sortPaths } from "./compared_paths";

function path(name: string, change_ns: number, more: Partial<ChangedPath> = {}): ChangedPath {
    return {
        path: name,
        verdict: "same",
        from: null,
        change_ns,
        share: null,
        time_ns: [100, 100 + change_ns],
        calls: [1, 2],
        executions: [1, 1],
        is_waiting: false,
        kind: null,
        ...more,
    };
}

const names = (paths: ChangedPath[]) => paths.map((x) => x.path).join("");

test("by change the largest come first, whichever way; of the whole the slowest", () => {
    const paths = [path("a", 1), path("b", -50), path("c", 20)];
    assert.equal(names(sortPaths(paths, { key: "change_ns", isDown: true })), "bca");
    assert.equal(names(sortPaths(paths, { key: "share", isDown: true })), "cab");
    assert.equal(names(sortPaths(paths, { key: "path", isDown: false })), "abc");
    assert.equal(names(sortPaths(paths, { key: "nothing", isDown: true })), "bca");
    assert.equal(names(paths), "abc", "what was given stays as it is");
});

test("a table of paths has a column for each thing that is known", () => {
    const { head, rows } = pathsTable([
        path("f", -2, { verdict: "faster", kind: "with a", is_waiting: true }),
    ]);
    assert.equal(head.length, rows[0].length);
    assert.deepEqual(rows[0], ["f", "faster", null, -2, null, 100, 98, 1, 2, true, "with a"]);
});
