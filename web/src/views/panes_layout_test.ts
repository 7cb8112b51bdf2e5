import assert from "node:assert/strict";
import test from "node:test";
import { readLayouts } from "../state/panes";
import {
    Box,
    Divider,
    Laid,
    layOutPanes,
    part,
    roomOf,
    shareOut,
    sizesAfter,
    treeOf,
} from "./panes_layout";

const seven = ["overview", "why", "structure", "ranks", "regions", "quality"];

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

test("views never lie over each other, and all room is used", () => {
    for (const room of ["stacked", "usual", "wide"] as const)
        for (let n = 0; n <= 6; n++)
            for (const below of [[], ["timeline"], ["map", "timeline"]]) {
                if (!n && !below.length) continue;
                const laid = layOutPanes(
                    treeOf(seven.slice(0, n), below, room),
                    { width: 1000, height: 500 },
                    {},
                );
                const boxes = [...boxesOf(laid).values()];
                assert.equal(boxes.length, n + below.length);
                const boxesAndBorders = laid.items.map(({ box }) => box);
                const area = boxesAndBorders.reduce((sum, b) => sum + b.width * b.height, 0);
                assert.ok(Math.abs(area - 1000 * laid.height) < 1, `${room} ${n} ${below}`);
                boxes.forEach((a, i) =>
                    boxes.slice(i + 1).forEach((b) => {
                        const isApart =
                            right(a) <= b.left + 1e-6 ||
                            right(b) <= a.left + 1e-6 ||
                            bottom(a) <= b.top + 1e-6 ||
                            bottom(b) <= a.top + 1e-6;
                        assert.ok(isApart, `${room} ${n} ${below}`);
                    }),
                );
            }
});

test("three views stand in two columns, the second as high as both others", () => {
    const laid = layOutPanes(
        treeOf(seven.slice(0, 3), ["timeline"], "usual"),
        { width: 1006, height: 806 },
        {},
    );
    const boxes = boxesOf(laid);
    assert.deepEqual(boxes.get("why"), { left: 506, top: 0, width: 500, height: 400 });
    assert.deepEqual(boxes.get("structure"), { left: 0, top: 203, width: 500, height: 197 });
    assert.deepEqual(boxes.get("timeline"), { left: 0, top: 406, width: 1006, height: 400 });
    assert.deepEqual(
        dividersOf(laid).map(({ path, views }) => [path, views.join()]),
        [
            ["0.0", "overview"],
            ["0", "overview,structure"],
            ["", "overview,structure,why"],
        ],
    );
});

test("what one gets the other gives, down to the least of both", () => {
    const tree = treeOf(["overview", "why"], ["timeline"], "usual");
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
    const tree = treeOf(["overview", "why"], ["timeline"], "stacked");
    const room = { width: 500, height: 400 };
    const laid = layOutPanes(tree, room, {});
    assert.equal(laid.height, 208 + 208 + 260 + 3 * 6);
    const borders = dividersOf(laid);
    assert.equal(borders.length, 3, "the last one has a border, too");
    const more = sizesAfter(borders[2], 390);
    assert.deepEqual(more, { sizes: [208, 208, 390], isLong: true });
    assert.equal(layOutPanes(tree, room, { "": more }).height, 208 + 208 + 390 + 3 * 6);
    const large = layOutPanes(tree, { width: 500, height: 2000 }, { "": more });
    assert.equal(large.height, 2000, "and fill a larger window");
});

test("what is more than fits, but no stack, stays as long when a border moves", () => {
    const tree = treeOf(["overview", "why"], ["timeline"], "usual");
    const room = { width: 900, height: 300 };
    const laid = layOutPanes(tree, room, {});
    assert.equal(laid.height, 169 + 195 + 6);
    const borders = dividersOf(laid);
    assert.equal(borders.length, 2);
    const other = sizesAfter(borders[1], 140);
    assert.deepEqual(other, { sizes: [140, 224], isLong: true });
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
    const tree = treeOf(["overview", "why"], [], "usual");
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
