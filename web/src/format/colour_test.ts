import assert from "node:assert/strict";
import test from "node:test";
import {
    countColour,
    hotColour,
    inkOn,
    luminance as brightness,
    regionColour,
    scaleColour,
} from "./colour";
import { anomalyColour, Rgb } from "./palette";

function luminance(colour: Rgb): number {
    const [r, g, b] = colour.map((c) =>
        c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

const names = Array.from({ length: 300 }, (_, i) => `function_${i}`);

test("a function has the same colour every time, and never that of an anomaly", () => {
    for (const name of names) {
        assert.deepEqual(regionColour(name), regionColour(name));
        assert.notDeepEqual(regionColour(name), anomalyColour);
    }
    assert.ok(new Set(names.map((name) => regionColour(name).join())).size > 12);
});

test("text on a region can be read: contrast 4.5 or more", () => {
    for (const name of names) {
        const colour = regionColour(name);
        const ink = inkOn(colour) === "#000" ? 0 : 1;
        const [high, low] = [
            Math.max(luminance(colour), ink),
            Math.min(luminance(colour), ink),
        ];
        assert.ok((high + 0.05) / (low + 0.05) >= 4.5, name);
    }
});

test("the scale stays inside its ends", () => {
    assert.deepEqual(scaleColour(-1), scaleColour(0));
    assert.deepEqual(scaleColour(2), scaleColour(1));
});

test("more is further from what it is drawn on, in light as in dark", () => {
    const panels = { light: brightness([255, 255, 255]), dark: brightness([25, 29, 35]) };
    for (const colour of [hotColour, countColour])
        for (const [theme, panel] of Object.entries(panels)) {
            const contrasts = [0, 0.25, 0.5, 0.75, 1].map((x) =>
                Math.abs(brightness(colour(x, theme === "dark")) - panel),
            );
            assert.deepEqual(
                contrasts,
                [...contrasts].sort((a, b) => a - b),
                theme,
            );
        }
});
