import assert from "node:assert/strict";
import test from "node:test";
import { Location } from "../api/types";
import { areThreadsShown, Grouping, groupLanes, threadsByRank } from "./lane_groups";

/* Ranks 0 to 3 of three threads each, location 3 r + t; ranks 0 and 2 on node a, the others on b. The last thread of each
   has no calls. */
const locations = Array.from({ length: 12 }, (_, id) => {
    const [rank, thread] = [Math.floor(id / 3), id % 3];
    return { id, rank, thread, node: rank % 2 ? "b" : "a", calls: thread < 2 ? 5 : 0 };
}) as Location[];
const byId = new Map(locations.map((l) => [l.id, l]));
const grouping = (more: Partial<Grouping> = {}): Grouping => ({
    threads: threadsByRank(locations),
    folds: {},
    own: null,
    pinned: [],
    ...more,
});
const ids = (asked: number[], more: Partial<Grouping> = {}) =>
    groupLanes(asked, byId, grouping(more)).map(({ location }) => location);

test("threads with calls are shown under the rank that is looked at, or that is unfolded", () => {
    assert.deepEqual(ids([0, 6]), [0, 6]);
    assert.deepEqual(ids([0, 6], { own: 2 }), [0, 6, 7]);
    assert.deepEqual(ids([0, 6], { own: 2, folds: { 2: false, 0: true } }), [0, 1, 6]);
});

test("a thread that is asked for comes with its rank, until it is folded", () => {
    assert.deepEqual(ids([8]), [6, 8]);
    assert.deepEqual(ids([8], { folds: { 2: false } }), [6]);
    const [rank, thread] = groupLanes([8], byId, grouping());
    assert.equal(rank.threads, 1);
    assert.ok(!rank.isNested && thread.isNested);
});

test("many threads are folded, unless they are asked for", () => {
    const many = Array.from({ length: 40 }, (_, id) => ({
        id,
        rank: 0,
        thread: id,
        node: "",
        calls: 1,
    })) as Location[];
    const of = grouping({ threads: threadsByRank(many), own: 0 });
    assert.equal(areThreadsShown(0, of), false);
    assert.equal(areThreadsShown(0, { ...of, folds: { 0: true } }), true);
});

test("ranks are together by node, which the first of them names", () => {
    const lanes = groupLanes([0, 3, 6, 9], byId, grouping());
    assert.deepEqual(
        lanes.map(({ location, heading }) => [location, heading]),
        [
            [0, "a"],
            [6, undefined],
            [3, "b"],
            [9, undefined],
        ],
    );
});

test("pinned ranks come first, asked for or not", () => {
    const lanes = groupLanes([0, 3], byId, grouping({ pinned: [3, 17] }));
    assert.deepEqual(
        lanes.map(({ location, isPinned }) => [location, isPinned]),
        [
            [9, true],
            [0, false],
            [3, false],
        ],
    );
});

test("streams of a GPU come after the threads, under their device", () => {
    const places = [
        { id: 0, rank: 0, thread: 0, name: "", is_gpu: false },
        { id: 1, rank: 0, thread: 1, name: "GPU 0, stream 7", is_gpu: true },
        { id: 2, rank: 0, thread: 2, name: "GPU 0, stream 9", is_gpu: true },
        { id: 3, rank: 0, thread: 3, name: "GPU 1, stream 7", is_gpu: true },
        { id: 4, rank: 0, thread: 4, name: "backward", is_gpu: false },
    ].map((l) => ({ ...l, node: "", calls: 5 })) as Location[];
    const lanes = groupLanes(
        [0],
        new Map(places.map((l) => [l.id, l])),
        grouping({ threads: threadsByRank(places), own: 0 }),
    );
    assert.deepEqual(
        lanes.map(({ location, heading }) => [location, heading]),
        [
            [0, undefined],
            [4, undefined],
            [1, "GPU 0"],
            [2, undefined],
            [3, "GPU 1"],
        ],
    );
    assert.deepEqual([lanes[0].threads, lanes[0].streams], [4, 3]);
});
