import assert from "node:assert/strict";
import test from "node:test";
import { Subtree } from "../api/types";
import { spread } from "./spread";
import { keptSubtrees } from "./subtree_list";

const subtree = (importance: number) => ({ importance }) as Subtree;

test("the threshold is a share of the largest importance, in either direction", () => {
    const list = [subtree(1), subtree(-4), subtree(0), subtree(2)];
    const kept = (percent: number) => keptSubtrees(list, percent).kept.map((s) => s.importance);
    assert.deepEqual(kept(0), [-4, 2, 1]);
    assert.deepEqual(kept(50), [-4, 2]);
    assert.deepEqual(kept(51), [-4]);
    assert.deepEqual(keptSubtrees([], 2), { kept: [], most: 0 });
});

test("some of many are spread over all", () => {
    assert.deepEqual(spread([3, 5, 7], 9), [3, 5, 7]);
    assert.deepEqual(
        spread(
            Array.from({ length: 101 }, (_, i) => i),
            3,
        ),
        [0, 50, 100],
    );
    assert.deepEqual(spread([4], 3), [4]);
    assert.deepEqual(spread([], 3), []);
});
