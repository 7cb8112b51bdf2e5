import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { abnormalColour, anomalyColour, normalColour, Rgb, rgb, sideColours } from "./palette";

const theme = readFileSync("src/theme.css", "utf8");

/* As it is in light, which comes first. */
function inTheme(name: string): Rgb {
    const [, hex] = new RegExp(`${name}: #([0-9a-f]{6});`).exec(theme)!;
    return rgb(hex);
}

test("the style and what scripts draw have the same colours", () => {
    assert.deepEqual(inTheme("--hot"), anomalyColour);
    assert.deepEqual(inTheme("--hot"), abnormalColour);
    assert.deepEqual(inTheme("--before"), sideColours[0]);
    assert.deepEqual(inTheme("--before"), normalColour);
    assert.deepEqual(inTheme("--after"), sideColours[1]);
});

test("no other style has a colour of its own", () => {
    for (const file of [
        "style",
        "live",
        "compared",
        "drawing",
        "compared_drawing",
        "report/report",
    ])
        assert.doesNotMatch(
            readFileSync(`src/${file}.css`, "utf8"),
            /:[^;{]*#[0-9a-f]{3,8}\b|(rgb|hsl)a?\(/i,
            file,
        );
});
