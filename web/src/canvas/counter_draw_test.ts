import assert from "node:assert/strict";
import test from "node:test";
import { counterAt, counterScale, CounterTrack, stripsOf } from "./counter_draw";
import { layOutBlocks, stripHeight } from "./rows";

/* Ten columns of 10 ns: location, first, end, least, greatest, mean. */
function track(isRate: boolean, ...pieces: number[][]): CounterTrack {
    const column = (k: number) => Float64Array.from(pieces, (piece) => piece[k]);
    return {
        name: "c",
        unit: "",
        isRate,
        begin_ns: 1000,
        end_ns: 1100,
        width: 10,
        isEstimate: false,
        fell: 0,
        n: pieces.length,
        location: Uint32Array.from(column(0)),
        first: Uint32Array.from(column(1)),
        end: Uint32Array.from(column(2)),
        least: column(3),
        greatest: column(4),
        mean: column(5),
    };
}

test("the scale is that of what is shown, from nothing on unless it hardly varies", () => {
    const t = track(true, [0, 0, 5, 40, 42, 41], [0, 5, 10, 7, 80, 9]);
    assert.deepEqual(counterScale(t, [1000, 1100]), { low: 0, high: 80 });
    assert.deepEqual(counterScale(t, [1000, 1050]), { low: 0, high: 42 });
    assert.equal(counterScale(t, [1100, 1200]), null);
    const heat = track(false, [0, 0, 5, 40, 42, 41]);
    assert.deepEqual(counterScale(heat, [1000, 1100]), { low: 40, high: 42 });
    const same = track(false, [0, 0, 5, 40, 40, 40]);
    assert.deepEqual(counterScale(same, [1000, 1100]), { low: 0, high: 40 });
    const none = track(false, [0, 0, 5, 0, 0, 0]);
    assert.deepEqual(counterScale(none, [1000, 1100]), { low: 0, high: 1 });
    const below = track(false, [0, 0, 5, -4, 1, 0]);
    assert.deepEqual(counterScale(below, [1000, 1100]), { low: -4, high: 1 });
});

/* Locations 0 and 1 are rank 0, 2 is rank 1; 7 and 8 read for rank 0, 9 for a rank that is not shown. */
const ranks: Record<number, number> = { 0: 0, 1: 0, 2: 1, 7: 0, 8: 0, 9: 5 };

test("what reads for a process is drawn under its first lane", () => {
    const t = track(true, ...[0, 1, 7, 8, 9, 2].map((l) => [l, 0, 5, 1, 1, 1]));
    const lanes = [{ location: 0 }, { location: 1, isNested: true }, { location: 2 }];
    const strips = stripsOf(t, lanes, (l) => ranks[l]);
    assert.deepEqual(
        [...strips],
        [
            [0, [0, 7, 8]],
            [1, [1]],
            [2, [2]],
        ],
    );
    const plain = layOutBlocks(lanes, null, () => true);
    const blocks = layOutBlocks(lanes, null, () => true, Infinity, strips);
    assert.equal(blocks[0].height, plain[0].height + 3 * stripHeight);
    assert.equal(blocks[1].top, plain[1].top + 3 * stripHeight);
    const y = blocks[0].stripTop! + 1.5 * stripHeight;
    assert.deepEqual(counterAt(t, blocks, 1020, y), { location: 7, piece: 2 });
    assert.equal(counterAt(t, blocks, 1060, y), null, "nothing is known then");
    assert.equal(counterAt(t, blocks, 1020, blocks[0].top), null, "calls are there");
    assert.equal(stripsOf(null, lanes, (l) => ranks[l]).size, 0);
});
