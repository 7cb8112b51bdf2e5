import assert from "node:assert/strict";
import test from "node:test";
import {
    CollectiveColumns,
    collectiveAt,
    collectiveOfCall,
    collectiveShapes,
    countCollectives,
} from "./collectives_draw";

/*
 * location 0  [====]           from 10, waits until 40
 * location 1      [=]          from 30, waits until 40
 * location 2        [          from 40, the last; its call is 7
 */
const barrier: CollectiveColumns = {
    n: 1,
    region: Uint32Array.from([3]),
    members: Uint32Array.from([3]),
    known: Uint32Array.from([3]),
    last_location: Uint32Array.from([2]),
    last_call: Uint32Array.from([7]),
    last_ns: Float64Array.from([40]),
    wait_ns: Float64Array.from([40]),
    parts: {
        n: 3,
        of: Uint32Array.from([0, 0, 0]),
        location: Uint32Array.from([0, 1, 2]),
        call: Uint32Array.from([5, 6, 7]),
        begin_ns: Float64Array.from([10, 30, 40]),
        end_ns: Float64Array.from([41, 41, 41]),
        wait_ns: Float64Array.from([30, 10, 0]),
    },
};
const plane = (lanes: number[]) => ({
    x: (ns: number) => ns,
    y: (location: number) => (lanes.includes(location) ? 100 * location : null),
});

test("its left edge is where they came, its right one where the last did", () => {
    const [shape] = collectiveShapes(barrier, plane([0, 1, 2]), [0, 100], null);
    assert.equal(shape.x, 40);
    assert.deepEqual(
        shape.corners.map(({ x, y }) => [x, y]),
        [
            [10, 0],
            [30, 100],
            [40, 200],
        ],
    );
    assert.equal(shape.last, 200);
});

test("the last to arrive need not be shown, but two who take part do", () => {
    const [shape] = collectiveShapes(barrier, plane([0, 1]), [0, 100], null);
    assert.equal(shape.x, 40);
    assert.equal(shape.last, null);
    assert.deepEqual(collectiveShapes(barrier, plane([1]), [0, 100], null), []);
    assert.deepEqual(collectiveShapes(barrier, plane([0, 1, 2]), [50, 100], null), []);
});

test("it is at its right edge, between its lanes", () => {
    const shapes = collectiveShapes(barrier, plane([0, 1, 2]), [0, 100], null);
    assert.equal(collectiveAt(shapes, 42, 150, 4), 0);
    assert.equal(collectiveAt(shapes, 30, 150, 4), -1);
    assert.equal(collectiveAt(shapes, 40, 250, 4), -1);
    assert.equal(collectiveOfCall(barrier, 1, 6), 0);
    assert.equal(collectiveOfCall(barrier, 1, 7), -1);
});

/*
 * A broadcast: nobody goes on before the root has come, and who comes after it waits for nobody.
 *
 * location 0  [====]           from 10, waits until 40
 * location 1        [=]        the root, from 40
 * location 2            [=]    from 60
 */
const broadcast: CollectiveColumns = {
    ...barrier,
    last_location: Uint32Array.from([1]),
    last_call: Uint32Array.from([6]),
    wait_ns: Float64Array.from([30]),
    parts: {
        ...barrier.parts,
        begin_ns: Float64Array.from([10, 40, 60]),
        end_ns: Float64Array.from([41, 42, 61]),
        wait_ns: Float64Array.from([30, 0, 0]),
    },
};

test("a broadcast has its mark at the root, and only those that waited for it are to the left", () => {
    const [shape] = collectiveShapes(broadcast, plane([0, 1, 2]), [0, 100], null);
    assert.equal(shape.x, 40);
    assert.equal(shape.last, 100);
    assert.deepEqual(
        shape.corners.map(({ x }) => x),
        [10, 40, 40],
    );
});

/*
 * A reduction: only the root waits, for the last of the others; they need not wait for it.
 *
 * location 0  [====]           the root, from 10, waits until 40
 * location 1     []            from 25
 * location 2        []         from 40, the last
 */
test("a reduction has its mark at the last to come, and only the root is to the left", () => {
    const reduction: CollectiveColumns = {
        ...broadcast,
        last_location: Uint32Array.from([2]),
        parts: {
            ...broadcast.parts,
            begin_ns: Float64Array.from([10, 25, 40]),
            end_ns: Float64Array.from([41, 26, 42]),
        },
    };
    const [shape] = collectiveShapes(reduction, plane([0, 1, 2]), [0, 100], null);
    assert.equal(shape.last, 200);
    assert.deepEqual(
        shape.corners.map(({ x }) => x),
        [10, 40, 40],
    );
});

test("of many collectives those are counted in which somebody is seen to wait", () => {
    const n = 40;
    const many: CollectiveColumns = {
        ...barrier,
        n,
        last_location: new Uint32Array(n).fill(1),
        last_ns: Float64Array.from({ length: n }, (_, i) => 100 * i + (i ? 1 : 60)),
        parts: {
            n: 2 * n,
            of: Uint32Array.from({ length: 2 * n }, (_, i) => i >> 1),
            location: Uint32Array.from({ length: 2 * n }, (_, i) => i % 2),
            call: new Uint32Array(2 * n),
            begin_ns: Float64Array.from({ length: 2 * n }, (_, i) => 100 * (i >> 1)),
            end_ns: Float64Array.from({ length: 2 * n }, (_, i) => 100 * (i >> 1) + 70),
            wait_ns: Float64Array.from({ length: 2 * n }, (_, i) => 1 - (i % 2)),
        },
    };
    const count = (pixels: number) => countCollectives(many, [0, 100 * n], pixels, [0, 1]);
    assert.deepEqual(count(400), { inWindow: n, drawn: 1 });
    assert.deepEqual(count(40000), { inWindow: n, drawn: n });
    assert.deepEqual(countCollectives(many, [0, 100 * n], 400, [0]), { inWindow: 0, drawn: 0 });
});
