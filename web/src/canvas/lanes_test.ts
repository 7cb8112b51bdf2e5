import assert from "node:assert/strict";
import { test } from "node:test";
import { Lane, LaneCall } from "../api/live_types";
import { layLanes } from "./lanes";

function call(func: string, enter: number, leave: number | null, depth: number): LaneCall {
    return {
        func,
        event_id: func,
        enter_ns: enter,
        leave_ns: leave,
        depth,
        is_anomaly: false,
        is_this: func === "solve",
    };
}

const own: Lane = {
    rank: 0,
    thread: 0,
    is_own: true,
    calls: [call("main", 0, null, 0), call("solve", 100, 200, 1), call("a", 110, 120, 2)],
    messages: [{ is_send: true, time_ns: 150, source: 0, target: 3, tag: 1, bytes: 64 }],
};

test("lanes are rows, the windows are the time", () => {
    const other = { ...own, rank: 3, is_own: false, calls: [call("send", 150, 300, 0)] };
    const laid = layLanes([own, other]);
    assert.deepEqual([laid.begin, laid.end, laid.rows], [100, 300, 6]);
    assert.deepEqual(
        laid.bars.map((b) => [b.name, b.x, b.width, b.row]),
        [
            ["main", 0, 1, 1],
            ["solve", 0, 0.5, 2],
            ["a", 0.05, 0.05, 3],
            ["send", 0.25, 0.75, 5],
        ],
    );
    assert.equal(laid.messages[0].x, 0.25);
    assert.deepEqual(
        laid.titles.map((t) => t.row),
        [0, 4],
    );
});

test("nothing is drawn of nothing", () => {
    assert.equal(layLanes([]).bars.length, 0);
    assert.equal(layLanes([{ ...own, calls: [] }]).bars.length, 0);
});
