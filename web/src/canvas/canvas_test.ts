import assert from "node:assert/strict";
import test from "node:test";
import { makeAxis, spreadOut } from "./axis";
import { PointGrid } from "./grid";
import { pointsInside } from "./lasso";
import { callAt, Calls, heightOf, layOutBlocks, plainLanes } from "./rows";
import { zoomIdentity } from "d3-zoom";
import { centreOfView, transformTo } from "./centre";
import { nextSize } from "./pieces";
import { sample } from "./sampling";
import { clampSpan, fetchSpan, panSpan, Span, zoomSpan } from "./window";

const n = 1000;
const verdict = Uint8Array.from({ length: n }, (_, i) => Number(i % 100 === 3));
const label = new Int8Array(n);
label[7] = -1;

test("what is filtered out is not drawn, whether strange or not", () => {
    const isIn = (tree: number) => tree % 2 === 0;
    const { order, firstKept, hidden } = sample(
        Uint8Array.of(0, 1, 1, 0, 0, 0),
        new Int8Array(6),
        100,
        new Set([5]),
        isIn,
    );
    assert.deepEqual([...order].sort(), [0, 2, 4]);
    assert.equal(order[firstKept], 2);
    assert.equal(hidden, 3);
});

test("without normal ones, anomalies, labelled and chosen executions are still drawn", () => {
    const { order, firstKept, hidden } = sample(verdict, label, 0, new Set([8]));
    assert.equal(firstKept, 0);
    assert.deepEqual([...order], [3, 7, 8, 103, 203, 303, 403, 503, 603, 703, 803, 903]);
    assert.equal(hidden, n - 12);
});

test("moving the slider adds points, and exchanges none", () => {
    const at = (percent: number) => new Set(sample(verdict, label, percent, new Set()).order);
    const [few, more, all] = [at(20), at(60), at(100)];
    for (const tree of few) assert.ok(more.has(tree));
    assert.ok(few.size > 150 && few.size < 280, String(few.size));
    assert.equal(all.size, n);
});

test("the grid finds the same point as looking at all of them", () => {
    const random = (i: number) => ((Math.imul(i + 1, 2654435761) >>> 0) % 10007) / 10007;
    const x = Float32Array.from({ length: 5000 }, (_, i) => random(i));
    const y = Float32Array.from({ length: 5000 }, (_, i) => random(i + 7777));
    const grid = new PointGrid(
        x,
        y,
        Uint32Array.from(x, (_, i) => i),
    );
    for (let k = 0; k < 200; k++) {
        const [px, py] = [random(k * 31), random(k * 57)];
        let best = -1;
        let least = 1;
        for (let i = 0; i < x.length; i++) {
            const d = ((x[i] - px) / 0.02) ** 2 + ((y[i] - py) / 0.01) ** 2;
            if (d <= least) [best, least] = [i, d];
        }
        assert.equal(grid.nearest(px, py, 0.02, 0.01), best);
    }
});

test("a lasso takes what is inside, also of a line that bends inwards", () => {
    const x = Float32Array.from([0.5, 0.1, 0.9, 0.5]);
    const y = Float32Array.from([0.2, 0.5, 0.5, 0.8]);
    /* a U: the point at (0.5, 0.8) lies between its arms */
    const line: [number, number][] = [
        [0, 0],
        [1, 0],
        [1, 1],
        [0.7, 1],
        [0.7, 0.4],
        [0.3, 0.4],
        [0.3, 1],
        [0, 1],
    ];
    assert.deepEqual([...pointsInside(line, x, y, Uint32Array.from([0, 1, 2, 3]))], [0, 1, 2]);
    assert.deepEqual(
        [...pointsInside(line, x, y, Uint32Array.from([2, 3]))],
        [2],
        "what is not drawn is not chosen",
    );
});

test("an axis is logarithmic where a few values are far larger, and puts all into 0..1", () => {
    const values = [1, 2, 3, 2, 1, 1000];
    const axis = makeAxis(values, true);
    assert.equal(axis.isLog, true);
    assert.equal(makeAxis([1, 2, 3], true).isLog, false);
    for (const at of spreadOut(values, axis)) assert.ok(at > 0 && at < 1);
    assert.ok(
        spreadOut([5, 5, 5], makeAxis([5, 5, 5], false)).every(
            (at) => Math.abs(at - 0.5) < 1e-6,
        ),
    );
});

const whole: Span = [0, 1e9];

test("zooming keeps what is under the pointer where it is", () => {
    const [begin, end] = zoomSpan([100, 1100], 4, 350, whole);
    assert.equal(end - begin, 250);
    assert.equal((350 - begin) / (end - begin), 0.25);
});

test("the window stays inside the run and above 20 ns", () => {
    assert.deepEqual(panSpan([0, 100], -1, whole), [0, 100]);
    assert.deepEqual(zoomSpan([0, 1e9], 0.1, 5e8, whole), [0, 1e9]);
    const [begin, end] = zoomSpan([500, 520], 100, 510, whole);
    assert.equal(end - begin, 20);
    assert.deepEqual(clampSpan([9e8, 2e9], whole), [0, 1e9]);
});

test("panning a little asks for nothing new, and what is fetched covers what is seen", () => {
    const window: Span = [1_000_000, 1_500_000];
    const fetched = fetchSpan(window, whole);
    assert.ok(fetched[0] <= window[0] && fetched[1] >= window[1]);
    assert.deepEqual(fetchSpan([1_000_900, 1_500_900], whole), fetched);
});

/* location 0: main [0,100) > step [10,60); location 1: main [0,100) */
const calls: Calls = {
    n: 3,
    begin_ns: Float64Array.from([0, 10, 0]),
    end_ns: Float64Array.from([100, 60, 100]),
    location: Uint32Array.from([0, 0, 1]),
    depth: Uint16Array.from([0, 1, 0]),
    region: Uint32Array.from([0, 1, 0]),
    call: Uint32Array.from([0, 1, 0]),
    merged: Uint32Array.from([1, 1, 1]),
};

test("blocks lie below each other, as high as their depth, and calls are found in them", () => {
    const blocks = layOutBlocks(plainLanes([1, 0]), calls, (location) => location === 0);
    assert.deepEqual(
        blocks.map((b) => [b.location, b.depths]),
        [
            [1, 1],
            [0, 2],
        ],
    );
    assert.ok(blocks[1].top >= blocks[0].top + blocks[0].height);
    assert.ok(heightOf(blocks) >= blocks[1].top + blocks[1].height);
    const row = (k: number) => blocks[1].top + (k + 0.5) * blocks[1].row;
    assert.equal(callAt(calls, blocks, 30, 1, row(1)), 1);
    assert.equal(callAt(calls, blocks, 80, 1, row(1)), -1);
    assert.equal(callAt(calls, blocks, 80, 1, row(0)), 0);
});

test("the first of the normal ones, however many are drawn, are spread over all", () => {
    const n = 20000;
    const { order, firstKept } = sample(new Uint8Array(n), new Int8Array(n), 100, new Set());
    assert.equal(firstKept, n);
    assert.equal(new Set(order).size, n);
    const early = [...order.subarray(0, n / 10)].filter((tree) => tree < n / 2).length;
    assert.ok(Math.abs(early / (n / 10) - 0.5) < 0.05, `${early} of ${n / 10}`);
});

test("as many points are drawn in a frame as fit into it", () => {
    const limit = { most: 22, aim: 16 };
    assert.equal(nextSize(100000, 100000, 16.7, limit), 200000, "there is room for more");
    assert.equal(nextSize(400000, 300000, 16.7, limit), 400000, "there were no more");
    assert.equal(nextSize(400000, 400000, 32, limit), 200000, "half as many take half as long");
    assert.equal(nextSize(40000, 40000, 500, limit), 20000, "but never too few to see");
    assert.equal(nextSize(200000, 200000, 20, limit), 200000);
});

test("what is in the middle stays there in a window of another size", () => {
    const small = { left: 54, top: 8, width: 400, height: 200, scale: 1 };
    const large = { left: 54, top: 8, width: 900, height: 700, scale: 1.7 };
    const moved = zoomIdentity.translate(-300, -80).scale(3);
    const at = centreOfView(moved, small);
    const again = centreOfView(transformTo(at, large), large);
    for (const key of ["k", "x", "y"] as const)
        assert.ok(Math.abs(again[key] - at[key]) < 1e-9);
    assert.deepEqual(centreOfView(zoomIdentity, large), { k: 1, x: 0.5, y: 0.5 });
});
