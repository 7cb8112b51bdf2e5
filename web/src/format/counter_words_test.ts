import assert from "node:assert/strict";
import test from "node:test";
import { CallCounter } from "../api/types";
import { formatNumber, rangeWords, readWords, unitOf } from "./counter_words";

const nothing: CallCounter = {
    name: "x",
    unit: "",
    mode: "absolute",
    span: "point",
    location: null,
    inclusive: null,
    own: null,
    per_s: null,
    begin: null,
    end: null,
    before: null,
    last: null,
    n_readings: 0,
    least: null,
    greatest: null,
};
const call = { enter_ns: 1_000_000, leave_ns: 3_000_000 };

test("numbers have all their digits", () => {
    assert.equal(formatNumber(88034943), "88,034,943");
    assert.equal(formatNumber(-1234.5678), "-1,234.5678");
    assert.equal(formatNumber(-0.25), "-0.25");
    assert.equal(formatNumber(1e-7), "1e-7");
    assert.equal(formatNumber(1.5e300), "1.5e+300");
});

test("what was read at the borders is said of them", () => {
    assert.equal(
        readWords({ ...nothing, begin: 40, end: 60 }, call),
        "40 at its begin; 60 at its end",
    );
});

test("what was read at other times is said with these", () => {
    const before = { time_ns: 500_000, value: 6 };
    const last = { time_ns: 2_999_000, value: null };
    assert.equal(
        readWords({ ...nothing, before, last }, call),
        "6, read 500 us before it; no number, read 1.00 us before its end",
    );
    assert.equal(
        readWords({ ...nothing, before }, call),
        "6, read 500 us before it; not read in it",
    );
});

test("a range is of several readings, and not of what only grows", () => {
    const range = { ...nothing, n_readings: 12, least: 2, greatest: 9 };
    assert.equal(rangeWords(range), "2 to 9 in 12 readings");
    assert.equal(rangeWords({ ...range, mode: "accumulated" }), "");
    assert.equal(rangeWords({ ...range, n_readings: 1 }), "");
    assert.equal(rangeWords({ ...range, n_readings: null }), "");
    assert.equal(unitOf({ ...range, unit: "#" }), "");
    assert.equal(unitOf({ ...range, unit: "J" }), "J");
});
