import assert from "node:assert/strict";
import test from "node:test";
import {
    counterWords,
    pieceWords,
    shortName,
    shortNumber,
    unitWords,
} from "./counter_track_words";

test("numbers beside a strip have three digits and a letter", () => {
    const wanted: [number, string][] = [
        [0, "0"],
        [0.012345, "0.0123"],
        [999, "999"],
        [1234, "1.23 k"],
        [-4200000, "-4.2 M"],
        [2949999999, "2.95 G"],
        [3e15, "3000 T"],
    ];
    for (const [x, text] of wanted) assert.equal(shortNumber(x), text);
});

test("long names keep their begin and their end", () => {
    assert.equal(shortName("PAPI_TOT_CYC"), "PAPI_TOT_CYC");
    const long = shortName("A2rocm_smi:::current_socket_power:device=0");
    assert.equal(long, "A2rocm_smi:::curr…et_power:device=0");
    assert.ok(long.length <= 36);
});

test("what grows is per second, and a unit that says nothing is left out", () => {
    assert.equal(unitWords({ name: "c", unit: "#", isRate: true }), "per second");
    assert.equal(unitWords({ name: "c", unit: "B", isRate: true }), "B per second");
    assert.equal(counterWords({ name: "power", unit: "W", isRate: false }), "power, W");
    assert.equal(counterWords({ name: "loss", unit: "", isRate: false }), "loss");
});

test("what was the same all the time is one number, else a range and a mean", () => {
    const power = { name: "power", unit: "W", isRate: false };
    assert.equal(pieceWords(power, 2.5, 2.5, 2.5), "2.5 W");
    assert.equal(pieceWords(power, 2, 3, 2.25), "2 to 3 W, mean 2.25");
});
