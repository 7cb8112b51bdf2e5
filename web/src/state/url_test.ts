import assert from "node:assert/strict";
import test from "node:test";
import {
    callOf,
    field,
    flag,
    folds,
    matching,
    number,
    numbers,
    oneOf,
    orderBy,
    packTrees,
    printState,
    readState,
    signedSpan,
    span,
    text,
    Type,
    unpackTrees,
} from "./url";

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
    const of = { value: "a" };
    const fields = [field("k", of, text)];
    assert.equal(printState(fields), "");
    of.value = "b & c";
    const hash = printState(fields);
    of.value = "x";
    readState(fields, `#${hash}`);
    assert.equal(of.value, "b & c");
    readState(fields, "");
    assert.equal(of.value, "a");
});

test("what is read is what was written, and what nobody writes is as at first", () => {
    const cases: [Type<any>, unknown, string, string[]][] = [
        [oneOf(["kind", "excess"]), "excess", "excess", ["", "other"]],
        [matching(/^(cost|\d+)$/), "17", "17", ["", "17x"]],
        [flag(false, "all"), false, "all", ["", "1"]],
        [number(0, 100), 40, "40", ["", "101", "-1", "x"]],
        [numbers, [3, 1], "3,1", ["", "3,x", "3,-1"]],
        [span, [100, 250], "100,250", ["", "100", "250,100", "1,2,3"]],
        [folds, { 3: true, 7: false }, "3,7x", []],
        [callOf, { location: 2, call: 40 }, "2.40", ["", "2", "2.x", "2.40.1"]],
        [
            orderBy((key) => key === "calls"),
            { key: "calls", isDown: true },
            "calls-",
            ["", "x-"],
        ],
    ];
    for (const [type, value, written, wrong] of cases) {
        assert.equal(type.print(value), written);
        assert.deepEqual(type.parse(written), value);
        for (const said of wrong) assert.equal(type.parse(said), null, said);
    }
});

test("a window may begin before what times are counted from, an area of a run may not", () => {
    assert.deepEqual(signedSpan.parse("-500,1200"), [-500, 1200]);
    assert.equal(signedSpan.print([-500.4, 1200]), "-500,1200");
    assert.equal(signedSpan.parse("3,-1"), null);
    assert.equal(span.parse("-500,1200"), null);
});
