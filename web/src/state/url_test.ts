import assert from "node:assert/strict";
import test from "node:test";
import { packTrees, printState, readState, unpackTrees } from "./url";

test("chosen executions survive the way through the URL", () => {
    const trees = [9, 3, 4, 5, 100000, 36];
    const text = packTrees(trees);
    assert.equal(text, "3+2.9.10.255s");
    assert.deepEqual([...unpackTrees(text, 200000)!], [3, 4, 5, 9, 36, 100000]);
});

test("a URL that somebody broke chooses nothing", () => {
    assert.equal(unpackTrees("3+zzzz", 100), null);
    assert.equal(unpackTrees("<script>", 100), null);
    assert.equal(unpackTrees("3..4", 100), null);
});

test("what is as at first is left out of the URL, and read as such", () => {
    let value = "a";
    const fields = [
        {
            key: "k",
            print: () => (value === "a" ? null : value),
            read: (text: string | null) => (value = text ?? "a"),
        },
    ];
    assert.equal(printState(fields), "");
    value = "b & c";
    const hash = printState(fields);
    value = "x";
    readState(fields, `#${hash}`);
    assert.equal(value, "b & c");
    readState(fields, "");
    assert.equal(value, "a");
});
