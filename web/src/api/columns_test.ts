import assert from "node:assert/strict";
import test from "node:test";
import { bundle } from "../fake/bundle";
import { parseBundle } from "./columns";

test("columns are views of the bytes that came, with their types", () => {
    const data = new Uint8Array(24);
    new Float64Array(data.buffer, 0, 2).set([1.5, 2e15]);
    new Uint32Array(data.buffer, 16, 2).set([7, 4e9]);
    const buffer = bundle(
        {
            columns: [
                { name: "enter_ns", type: "f64", n: 2, offset: 0 },
                { name: "rank", type: "u32", n: 2, offset: 16 },
            ],
            total: 5,
        },
        data,
    );
    const { header, columns } = parseBundle(buffer);
    assert.deepEqual([...columns.enter_ns], [1.5, 2e15]);
    assert.deepEqual([...columns.rank], [7, 4e9]);
    assert.equal(header.total, 5);
    assert.equal(columns.rank.buffer, buffer);
});

test("what is no bundle, or is cut short, is refused", () => {
    assert.throws(() => parseBundle(new ArrayBuffer(4)), /no bundle|not a bundle/);
    assert.throws(
        () => parseBundle(new TextEncoder().encode('{"title":1}').buffer as ArrayBuffer),
        /not a bundle/,
    );
    const long = bundle(
        { columns: [{ name: "x", type: "f64", n: 100, offset: 0 }] },
        new Uint8Array(16),
    );
    assert.throws(() => parseBundle(long), /does not fit/);
    const strange = bundle(
        { columns: [{ name: "x", type: "f16", n: 1, offset: 0 }] },
        new Uint8Array(16),
    );
    assert.throws(() => parseBundle(strange), /does not fit/);
});
