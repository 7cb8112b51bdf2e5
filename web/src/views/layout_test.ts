import assert from "node:assert/strict";
import test from "node:test";
import { TreeNode } from "../api/types";
import { placeNodes } from "./icicle_layout";
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
