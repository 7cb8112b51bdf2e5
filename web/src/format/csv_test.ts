import assert from "node:assert/strict";
import test from "node:test";
import { printCsv } from "./csv";

test("any text stays one cell, and numbers stay numbers", () => {
    const rows = [
        ['f<int, "x">', -1.5, null],
        ["two\nlines", 0, true],
    ];
    assert.equal(
        printCsv({ head: ["name", "ns", "is"], rows }),
        'name,ns,is\r\n"f<int, ""x"">",-1.5,\r\n"two\nlines",0,true\r\n',
    );
});

test("no name is a formula", () => {
    const names = ["=cmd()", "+1", "-f", "@x", "\tx", "a=b"];
    assert.equal(
        printCsv({ head: ["name"], rows: names.map((name) => [name]) }),
        ["name", "'=cmd()", "'+1", "'-f", "'@x", "'\tx", "a=b", ""].join("\r\n"),
    );
});
