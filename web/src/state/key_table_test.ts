import assert from "node:assert/strict";
import { test } from "node:test";
import { keyTable } from "./key_table";

const table = keyTable([
    { says: "next / previous", acts: { next: ["J", () => {}], before: ["K", () => {}] } },
    { says: "fold it, find it", acts: { fold: [" "], find: ["Ctrl+F"] }, join: ", " },
    { where: "timeline", says: "the call before", acts: { callBefore: ["ArrowLeft"] } },
    { says: "show a view", acts: { first: ["1", () => {}] }, shown: "1 to 8" },
]);

function heard(key: string, more = {}, where?: "timeline") {
    return table.heard(
        { key, ctrlKey: false, metaKey: false, ...more } as KeyboardEvent,
        where,
    )?.[0];
}

test("the help and tooltips name the keys that are heard", () => {
    assert.deepEqual(table.help, [
        ["J / K", "next / previous"],
        ["Space, Ctrl+F", "fold it, find it"],
        ["←", "in the timeline: the call before"],
        ["1 to 8", "show a view"],
    ]);
    assert.equal(table.keyOf("before"), "K");
    assert.equal(table.keyOf("fold"), "Space");
});

test("a key is heard with or without Shift, with Ctrl where the row says so, and where it says", () => {
    assert.equal(heard("j"), "next");
    assert.equal(heard("J"), "next");
    assert.equal(heard("j", { ctrlKey: true }), undefined);
    assert.equal(heard("f", { ctrlKey: true }), "find");
    assert.equal(heard("f", { metaKey: true }), "find");
    assert.equal(heard("f"), undefined);
    assert.equal(heard("ArrowLeft"), undefined);
    assert.equal(heard("ArrowLeft", {}, "timeline"), "callBefore");
    assert.equal(heard("j", {}, "timeline"), undefined);
});
