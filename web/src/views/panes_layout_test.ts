import assert from "node:assert/strict";
import test from "node:test";
import { readLayouts, Room, roomOf, sharedPlace } from "../state/panes";
import {
    Box,
    Divider,
    Laid,
    layOutPanes,
    part,
    shareOut,
    sizesAfter,
    treeOf,
} from "./panes_layout";

const views = ["overview", "structure", "ranks", "regions", "quality"];
const none = { above: [], timeline: null, why: null, details: null, chosen: null };

/* As the page makes them of so many views above the timeline. */
function shownOf(n: number, room: Room, others: Partial<Parameters<typeof treeOf>[0]>) {
    const all = views.slice(0, n);
    const [front, ...behind] = sharedPlace(all, room);
    const above = all.filter((view) => view === front || !behind.includes(view));
    return treeOf({ ...none, above, ...others }, room);
}

function boxesOf(laid: Laid): Map<string, Box> {
    return new Map(
        laid.items.flatMap((item) => ("view" in item ? [[item.view, item.box]] : [])),
    );
}
function dividersOf(laid: Laid): Divider[] {
    return laid.items.filter((item) => "path" in item) as Divider[];
}
const right = (b: Box) => b.left + b.width;
const bottom = (b: Box) => b.top + b.height;

const sometimes = [
    {},
    { timeline: "timeline" },
    { details: "details" },
    { timeline: "timeline", details: "details" },
];

test("views never lie over each other, and all room is used", () => {
    for (const room of ["stacked", "usual", "wide"] as const)
        for (let n = 0; n <= views.length; n++)
            for (const others of sometimes) {
                if (!n && !("timeline" in others) && (room === "stacked" || !others.details))
                    continue;
                const laid = layOutPanes(
                    shownOf(n, room, others),
                    { width: 1000, height: 500 },
                    {},
                );
                const said = `${room} ${n} ${JSON.stringify(others)}`;
                const boxes = [...boxesOf(laid).values()];
                const boxesAndBorders = laid.items.map(({ box }) => box);
                const area = boxesAndBorders.reduce((sum, b) => sum + b.width * b.height, 0);
                assert.ok(Math.abs(area - 1000 * laid.height) < 1, said);
                boxes.forEach((a, i) =>
                    boxes.slice(i + 1).forEach((b) => {
                        const isApart =
                            right(a) <= b.left + 1e-6 ||
                            right(b) <= a.left + 1e-6 ||
                            bottom(a) <= b.top + 1e-6 ||
                            bottom(b) <= a.top + 1e-6;
                        assert.ok(isApart, said);
                    }),
                );
            }
});

test("views that have no room beside each other share a place, the others have their own", () => {
    assert.deepEqual(sharedPlace(views.slice(0, 1), "usual"), []);
    assert.deepEqual(sharedPlace(views.slice(0, 2), "usual"), ["overview", "structure"]);
    assert.deepEqual(sharedPlace(views.slice(0, 2), "wide"), []);
    assert.deepEqual(sharedPlace(views.slice(0, 4), "wide"), ["structure", "ranks", "regions"]);
    assert.deepEqual(sharedPlace(views, "stacked"), []);
});

test("on a laptop lanes have 200 units, whatever else is open", () => {
    const room = { width: 1000, height: 620 };
    const above = 23 * 13 - 200; /* title, the run as a whole, legend */
    for (let n = 0; n <= views.length; n++)
        for (const others of sometimes) {
            const tree = shownOf(n, "usual", { ...others, timeline: "timeline" });
            const timeline = boxesOf(layOutPanes(tree, room, {})).get("timeline")!;
            assert.ok(timeline.height - above >= 200, `${n}: ${timeline.height}`);
        }
});

test("details stand beside all others", () => {
    const tree = shownOf(2, "wide", { timeline: "timeline", details: "details" });
    const laid = layOutPanes(tree, { width: 1428, height: 806 }, {});
    const boxes = boxesOf(laid);
    assert.deepEqual(boxes.get("details"), { left: 1012, top: 0, width: 416, height: 806 });
    assert.deepEqual(boxes.get("structure")!.left, 506);
    assert.equal(right(boxes.get("timeline")!), 1006);
    assert.deepEqual(
        dividersOf(laid).map(({ path, views }) => [path, views.join()]),
        [
            ["0.0.0", "overview"],
            ["0.0", "overview,structure"],
            ["0", "overview,structure,timeline"],
        ],
    );
});

test("what one gets the other gives, down to the least of both", () => {
    const tree = shownOf(2, "wide", { timeline: "timeline" });
    const room = { width: 1106, height: 806 };
    const [beside] = dividersOf(layOutPanes(tree, room, {}));
    assert.deepEqual(sizesAfter(beside, 600), { sizes: [600, 500], isLong: false });
    assert.deepEqual(sizesAfter(beside, 1e9).sizes, [1100 - 260, 260]);
    assert.deepEqual(sizesAfter(beside, 0).sizes, [260, 1100 - 260]);

    const dragged = { "0": sizesAfter(beside, 600) };
    assert.equal(boxesOf(layOutPanes(tree, room, dragged)).get("overview")!.width, 600);
    const half = boxesOf(layOutPanes(tree, { ...room, width: 886 }, dragged));
    assert.equal(half.get("overview")!.width, 480, "in another window the same shares");
});

test("stacked views scroll: one gets higher without the others", () => {
    const tree = shownOf(1, "stacked", { why: "why", timeline: "timeline" });
    const room = { width: 500, height: 400 };
    const laid = layOutPanes(tree, room, {});
    assert.equal(laid.height, 208 + 208 + 377 + 3 * 6);
    const borders = dividersOf(laid);
    assert.equal(borders.length, 3, "the last one has a border, too");
    const more = sizesAfter(borders[2], 390);
    assert.deepEqual(more, { sizes: [208, 208, 390], isLong: true });
    assert.equal(layOutPanes(tree, room, { "": more }).height, 208 + 208 + 390 + 3 * 6);
    const large = layOutPanes(tree, { width: 500, height: 2000 }, { "": more });
    assert.equal(large.height, 2000, "and fill a larger window");
});

test("what is more than fits, but no stack, stays as long when a border moves", () => {
    const tree = shownOf(1, "usual", { timeline: "timeline" });
    const room = { width: 900, height: 300 };
    const laid = layOutPanes(tree, room, {});
    assert.equal(laid.height, 169 + 299 + 6);
    const borders = dividersOf(laid);
    assert.equal(borders.length, 1);
    const other = sizesAfter(borders[0], 140);
    assert.deepEqual(other, { sizes: [140, 328], isLong: true });
    assert.equal(layOutPanes(tree, room, { "": other }).height, laid.height);
});

test("what is usually lower than others may be stays as low when another border moves", () => {
    const tree = {
        direction: "column" as const,
        parts: [part("points", 1, 195), part("call", 0, 80), part("records", 1, 195)],
        isStack: false,
    };
    const room = { width: 900, height: 800 };
    const laid = layOutPanes(tree, room, {});
    assert.equal(boxesOf(laid).get("call")!.height, 80);
    const [, border] = dividersOf(laid);
    assert.equal(border.least, 80);
    const more = sizesAfter(border, 120);
    assert.equal(boxesOf(layOutPanes(tree, room, { "": more })).get("call")!.height, 120);
    const [above] = dividersOf(laid);
    const lower = { "": sizesAfter(above, above.sizes[0] - 40) };
    assert.equal(boxesOf(layOutPanes(tree, room, lower)).get("call")!.height, 120);
});

test("sizes of another number of views are not used", () => {
    const tree = shownOf(2, "wide", {});
    const room = { width: 1106, height: 300 };
    const odd = { "0": { sizes: [1, 2, 3], isLong: false } };
    assert.deepEqual(layOutPanes(tree, room, odd), layOutPanes(tree, room, {}));
});

test("room that is too little for the least is shared out all the same", () => {
    const sizes = shareOut(100, [
        { size: 0, grow: 1, least: 300 },
        { size: 0, grow: 1, least: 100 },
    ]);
    assert.deepEqual(sizes, [75, 25]);
});

test("what a browser kept is not believed", () => {
    assert.deepEqual(readLayouts(null), {});
    assert.deepEqual(readLayouts("{"), {});
    assert.deepEqual(readLayouts('{"usual:list":{"":{"sizes":[-1],"isLong":false}}}'), {
        "usual:list": {},
    });
    const good = { "usual:list": { "": { sizes: [300], isLong: false } } };
    assert.deepEqual(readLayouts(JSON.stringify(good)), good);
    assert.equal(roomOf(800), "stacked");
});
