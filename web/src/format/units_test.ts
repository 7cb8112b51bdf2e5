import assert from "node:assert/strict";
import test from "node:test";
import {
    againstTypical,
    formatBytes,
    formatCount,
    formatExcess,
    formatMean,
    formatExactly,
    formatMoment,
    formatScore,
    formatTime,
    formatValue,
} from "./units";

test("scores have two digits, or as many more as it takes to see one", () => {
    const said = [14.476, 0.0051, 0.0018, -0.000042, -1e-9, 0, NaN].map(formatScore);
    assert.deepEqual(said, ["14.48", "0.01", "0.002", "-0.00004", "0.00", "0.00", "-"]);
});

test("times are three digits and a unit, as in the terminal", () => {
    assert.equal(formatTime(0), "0 ns");
    assert.equal(formatTime(483), "483 ns");
    assert.equal(formatTime(9790), "9.79 us");
    assert.equal(formatTime(38_100_000), "38.1 ms");
    assert.equal(formatTime(999_960), "1.00 ms");
    assert.equal(formatTime(9_420_000_000), "9.42 s");
    assert.equal(formatTime(326_400_000_000), "326 s");
});

test("an excess has a sign", () => {
    assert.equal(formatExcess(31_300_000), "+31.3 ms");
    assert.equal(formatExcess(-1000), "−1.00 us");
});

test("what took a little longer than typical is not called typical", () => {
    assert.equal(againstTypical(150e6, 143e6), "+7.00 ms");
    assert.equal(againstTypical(143e6, 143e6), "0 ns");
    assert.equal(againstTypical(14.7e6, 1.19e6), "12 times as long");
    assert.equal(againstTypical(2e6, 1e6), "2.0 times as long");
});

test("moments that are a nanosecond apart do not read the same", () => {
    assert.notEqual(formatMoment(9_420_000_001, 1), formatMoment(9_420_000_002, 1));
    assert.equal(formatMoment(512_416_000, 1_000_000), "512 ms");
});

test("an exact time has every nanosecond, in a unit that is easily read", () => {
    const said = [0, 550, 1_000, 9_100_001, 78_000_000, 9_420_000_001].map(formatExactly);
    const right = [
        "0 ns",
        "550 ns",
        "1.000 us",
        "9.100001 ms",
        "78.000000 ms",
        "9.420000001 s",
    ];
    assert.deepEqual(said, right);
});

test("bytes are three digits and a unit, as in the terminal", () => {
    const said = [0, 532, 1023, 1024, 544_768, 34_168_237].map(formatBytes);
    assert.deepEqual(said, ["0 B", "532 B", "1023 B", "1.00 KiB", "532 KiB", "32.6 MiB"]);
});

test("counts have separators, means a digit", () => {
    assert.equal(formatCount(1_000_000), "1,000,000");
    assert.equal(formatMean(2.72), "2.7");
    assert.equal(formatMean(14), "14");
    assert.equal(formatMean(0.001), "< 0.1");
});

test("what a counter reads has the digits that matter", () => {
    assert.equal(formatValue(1234567.8), "1,234,568");
    assert.equal(formatValue(-0.0123456), "-0.01235");
    assert.equal(formatValue(12), "12");
    assert.equal(formatValue(NaN), "-");
});
