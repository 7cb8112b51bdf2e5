import assert from "node:assert/strict";
import test from "node:test";
import { ComparedNode, ComparisonTree, Pair } from "../api/compare_types";
import { inclusiveTimes, lineage, placePaths } from "./difference";

//     step 10/10
//       solve 20/30        kernel 40/80
//       check  0/20        (new)
//       pack  30/ 0        (gone)
function node(name: string, parent: number | null, time_ns: Pair): ComparedNode {
    return {
        name,
        path: name,
        parent,
        verdict: "same",
        time_ns,
        calls: [1, 1],
        executions: [1, 1],
        is_waiting: false,
        from: null,
    };
}

const tree: ComparisonTree = {
    foi: "step",
    nodes: [
        node("step", null, [10, 10]),
        node("solve", 0, [20, 30]),
        node("kernel", 1, [40, 80]),
        node("check", 0, [0, 20]),
        node("pack", 0, [30, 0]),
    ],
    kinds: [
        {
            kind: "with pack",
            executions: [0.5, 0],
            time_ns: [
                [10, 20, 40, 0, 60],
                [0, 0, 0, 0, 0],
            ],
        },
    ],
};

test("times of a path include those below it, of all executions or of one kind", () => {
    assert.deepEqual(inclusiveTimes(tree, null), [
        [100, 140],
        [60, 110],
        [40, 80],
        [0, 20],
        [30, 0],
    ]);
    assert.deepEqual(inclusiveTimes(tree, 0)[0], [130, 0]);
    assert.deepEqual(tree.nodes[0].time_ns, [10, 10], "what was sent stays as it is");
});

test("a path is as wide as its time on the side that is drawn; what that does not have is left out", () => {
    const times = inclusiveTimes(tree, null);
    const at = (side: 0 | 1) =>
        Object.fromEntries(
            placePaths(tree.nodes, times, side, 0, 700).map(({ node, depth, x, width }) => [
                tree.nodes[node].name,
                [depth, Math.round(x), Math.round(width)],
            ]),
        );
    assert.deepEqual(at(0), {
        step: [0, 0, 700],
        solve: [1, 0, 420],
        kernel: [2, 0, 280],
        pack: [1, 420, 210],
    });
    assert.deepEqual(at(1), {
        step: [0, 0, 700],
        solve: [1, 0, 550],
        kernel: [2, 0, 400],
        check: [1, 550, 100],
    });
});

test("children never stand out of their caller", () => {
    const times = inclusiveTimes(tree, null);
    for (const side of [0, 1] as const) {
        const placed = placePaths(tree.nodes, times, side, 0, 333);
        const of = new Map(placed.map((p) => [p.node, p]));
        for (const { node, x, width } of placed) {
            const parent = tree.nodes[node].parent;
            if (parent === null) continue;
            const caller = of.get(parent)!;
            assert.ok(x >= caller.x && x + width <= caller.x + caller.width + 1e-9);
        }
    }
});

test("zoomed, a path and its callers are as wide as all there is", () => {
    const placed = placePaths(tree.nodes, inclusiveTimes(tree, null), 1, 1, 110);
    assert.deepEqual(
        placed.map(({ node, depth, width }) => [node, depth, width]),
        [
            [0, 0, 110],
            [1, 1, 110],
            [2, 2, 80],
        ],
    );
    assert.deepEqual(lineage(tree.nodes, 2), [0, 1, 2]);
});

test("paths too narrow to be seen are counted where they would be", () => {
    const placed = placePaths(tree.nodes, inclusiveTimes(tree, null), 1, 0, 8);
    assert.equal(placed.find((p) => p.node === 0)!.hidden, 1, "check, 20 of 140");
    const none = placePaths(tree.nodes, inclusiveTimes(tree, 0), 1, 0, 100);
    assert.deepEqual(none, [], "a kind that is gone has nothing to draw");
});

test("two sides at one scale are as wide as their times", () => {
    const times = inclusiveTimes(tree, null);
    const width = (side: 0 | 1) => placePaths(tree.nodes, times, side, 0, 140, 140)[0].width;
    assert.deepEqual([width(0), width(1)], [100, 140]);
});
