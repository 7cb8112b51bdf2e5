import assert from "node:assert/strict";
import test from "node:test";
import {
    CollectiveColumns,
    collectiveAt,
    collectiveOfCall,
    collectiveShapes,
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
