import assert from "node:assert/strict";
import { test } from "node:test";
import { placeTour } from "./tour_place";

const box = { width: 400, height: 200 };
const page = { width: 1280, height: 720 };
const rect = (left: number, top: number, right: number, bottom: number) => ({
    rect: { left, top, right, bottom },
    weight: 1,
});

test("where nothing is to be read it stands below, in the middle", () => {
    assert.deepEqual(placeTour(box, page, 20, []), { left: 440, top: 500 });
});

test("it covers least of what is to be read", () => {
    const [list, details] = [rect(0, 60, 270, 720), rect(950, 60, 1280, 720)];
    assert.deepEqual(placeTour(box, page, 20, [list, details]), { left: 440, top: 500 });
    const timeline = { ...rect(270, 360, 950, 720), weight: 3 };
    assert.deepEqual(placeTour(box, page, 20, [list, details, timeline]), {
        left: 440,
        top: 20,
    });
});

test("on a page that is smaller than it, it begins where the page does", () => {
    assert.deepEqual(placeTour(box, { width: 300, height: 100 }, 20, []), { left: 0, top: 0 });
});
