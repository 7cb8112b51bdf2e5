import assert from "node:assert/strict";
import test from "node:test";
import { TreeNode } from "../api/types";
import { layOut, placeNames } from "./force_layout";
import { placeNodes } from "./icicle_layout";
import { cutText, firstThatFits } from "./node_text";
import { placeBars } from "./sketch_layout";

function node(parent: number, inclusive_ns: number, more: Partial<TreeNode> = {}): TreeNode {
    return {
        parent,
        region: 0,
        calls: 1,
        inclusive_ns,
        exclusive_ns: 0,
        usual_ns: 0,
        usual_calls: 1,
        excess_ns: 0,
        rarity: 0,
        call: 0,
        location: 0,
        ...more,
    };
}

/* root > a > b > c (1 ns, unusual), and root > d */
const nodes = [
    node(-1, 1000),
    node(0, 600),
    node(1, 500),
    node(2, 1, { rarity: 9 }),
    node(0, 300),
];

test("widths are times, children lie inside their parent", () => {
    const placed = placeNodes(nodes.slice(0, 3).concat(node(0, 300)), 0.1, 10);
    assert.deepEqual(
        placed.map((p) => [p.node, p.depth, p.x, p.width]),
        [
            [0, 0, 0, 100],
            [1, 1, 0, 60],
            [2, 2, 0, 50],
            [3, 1, 60, 30],
        ],
    );
});

test("what is unusual is drawn beyond the depth limit, and wide enough to be seen", () => {
    const placed = placeNodes(nodes, 0.1, 1);
    assert.deepEqual(
        placed.map((p) => p.node),
        [0, 1, 2, 3],
    );
    assert.ok(placed[3].width >= 5);
    assert.equal(placed[0].hidden, 1, "the other child is counted");
});

test("bars of a sketch begin where the elder sibling ends, at the left of their parent", () => {
    const boxes = placeBars([
        [0, 1, 0, 0],
        [1, 0.5, 1, 0],
        [2, 0.25, 2, 0.9],
        [1, 0.25, 3, 0],
        [2, 0.1, 4, 0],
    ]);
    assert.deepEqual(
        boxes.map((b) => [b.depth, b.x]),
        [
            [0, 0],
            [1, 0],
            [2, 0],
            [1, 0.5],
            [2, 0.5],
        ],
    );
});

/* root with 30 children, of which the last is unusual */
const wide = [
    node(-1, 1000, { exclusive_ns: 100 }),
    ...Array.from({ length: 30 }, (_, i) =>
        node(0, 30 - i, { exclusive_ns: 30 - i, rarity: i === 29 ? 9 : 0 }),
    ),
];

test("names of the force-directed drawing lie apart, the unusual one is among them", () => {
    const [width, height] = [500, 300];
    const vertices = layOut(wide, width, height, 6);
    for (const v of vertices) assert.ok(v.x! > 0 && v.x! < width && v.y! > 0 && v.y! < height);
    const names = placeNames(
        wide,
        vertices,
        width,
        height,
        (i) => `a long name ${i}`,
        (text) => text.length * 6,
    );
    assert.ok(names.some(({ node: i }) => i === 30));
    names.forEach((a, i) =>
        names.slice(i + 1).forEach((b) => {
            const areApart =
                Math.abs(a.x - b.x) >= (a.text.length + b.text.length) * 3 ||
                Math.abs(a.y - b.y) >= 14;
            assert.ok(areApart, `${a.text} and ${b.text}`);
        }),
    );
});

test("a text is cut where it is too wide, and what says less is left out first", () => {
    const widthOf = (text: string) => text.length * 6;
    assert.equal(cutText("MD_NEWTON", 54, widthOf), "MD_NEWTON");
    assert.equal(cutText("MD_NEWTON", 53, widthOf), "MD_NEWT…");
    assert.equal(cutText("MD_NEWTON", 20, widthOf), "");
    const texts = ["MD_NEWTON  1.00 s  +2", "MD_NEWTON  1.00 s", "MD_NEWTON"];
    assert.equal(firstThatFits(texts, 110, widthOf), "MD_NEWTON  1.00 s");
    assert.equal(firstThatFits(texts, 60, widthOf), "MD_NEWTON");
});
