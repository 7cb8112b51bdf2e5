import assert from "node:assert/strict";
import { test } from "node:test";
import { Lane, LaneCall, RecordCause } from "../api/live_types";
import { sceneOfLanes } from "./record_scene";
import { treeOfLane } from "./record_tree";

function call(func: string, enter: number, leave: number | null, depth: number): LaneCall {
    return {
        func,
        event_id: `${func}@${enter}`,
        enter_ns: enter,
        leave_ns: leave,
        depth,
        is_anomaly: false,
        is_this: false,
    };
}

const strange = (of: LaneCall) => ({ ...of, is_this: true, is_anomaly: true });

function lane(rank: number, calls: LaneCall[], messages: Lane["messages"] = []): Lane {
    return { rank, thread: 0, calls, messages };
}

function message(isSend: boolean, time: number, source: number, target: number) {
    return { is_send: isSend, time_ns: time, source, target, tag: 7, bytes: 100 };
}

const leaf = [
    call("main", 0, null, 0),
    call("step", 1000, 3000, 1),
    call("send", 1100, 1200, 2),
    strange(call("wait", 1200, 2900, 2)),
    call("wait", 2900, 2950, 2),
    call("next", 3000, 3500, 1),
];

test("a call that called nothing is shown with its caller and the calls beside it", () => {
    const tree = treeOfLane(lane(0, leaf), 1600)!;
    assert.ok(tree.isCaller);
    assert.equal(tree.nCalls, 4);
    assert.deepEqual(
        tree.nodes.map((n) => [tree.names[n.region], n.parent, n.calls, n.inclusive_ns]),
        [
            ["step", -1, 1, 2000],
            ["send", 0, 1, 100],
            ["wait", 0, 2, 1750],
        ],
    );
    assert.equal(tree.nodes[0].exclusive_ns, 150);
    assert.equal(tree.nodes[2].excess_ns, 1600);
    assert.ok(tree.nodes[2].rarity > 5);
    assert.equal(tree.nodes[1].rarity, 0);
});

test("a call that called something is the root; calls of one path are one", () => {
    const calls = [
        call("main", 0, null, 0),
        strange(call("step", 0, 1000, 1)),
        call("a", 100, 200, 2),
        call("b", 120, 150, 3),
        call("a", 300, 500, 2),
        call("b", 310, 320, 3),
        call("after", 1000, 1100, 1),
    ];
    const tree = treeOfLane(lane(0, calls), 0)!;
    assert.ok(!tree.isCaller);
    assert.deepEqual(
        tree.nodes.map((n) => [tree.names[n.region], n.parent, n.calls, n.exclusive_ns]),
        [
            ["step", -1, 1, 700],
            ["a", 0, 2, 260],
            ["b", 1, 2, 40],
        ],
    );
});

test("an open caller is no root, and no call no tree", () => {
    const tree = treeOfLane(
        lane(0, [call("main", 0, null, 0), strange(call("f", 5, 9, 1))]),
        1,
    )!;
    assert.ok(!tree.isCaller);
    assert.deepEqual(tree.names, ["f"]);
    assert.equal(treeOfLane(lane(0, [call("f", 0, 1, 0)]), 0), null);
    assert.equal(treeOfLane(undefined, 0), null);
});

test("time is that around the call; what is open is cut to it", () => {
    const scene = sceneOfLanes([lane(0, leaf)], []);
    assert.deepEqual(scene.whole, [1100, 3500]);
    assert.deepEqual([scene.calls.begin_ns[0], scene.calls.end_ns[0]], [1100, 3500]);
    assert.deepEqual(Array.from(scene.isThis), [0, 0, 0, 1, 0, 0]);
    assert.deepEqual(scene.span, [1100, 2900 + 0.15 * 1700]);
    assert.equal(scene.names[scene.calls.region[3]], "wait");
});

test("messages of two lanes are arrows, in their order; the others are counted", () => {
    const other = lane(
        3,
        [call("MPI_Send", 1500, 2800, 0)],
        [message(true, 1600, 3, 0), message(true, 1700, 3, 0), message(true, 1800, 3, 5)],
    );
    const own = lane(0, leaf, [message(false, 2000, 3, 0), message(false, 2800, 3, 0)]);
    const { messages: m, others } = sceneOfLanes([own, other], []);
    assert.equal(m.n, 2);
    assert.equal(others, 1);
    assert.deepEqual(Array.from(m.send_ns), [1600, 1700]);
    assert.deepEqual(Array.from(m.recv_ns), [2000, 2800]);
    assert.deepEqual([m.from[0], m.to[0]], [1, 0]);
    assert.equal(m.recv_call[0], 3, "in the deepest call that is open then");
});

test("of lanes that begin and end at different times, no message is received before it is sent", () => {
    const arrows = (sent: number[], received: number[]) => {
        const from = lane(
            3,
            [call("MPI_Send", 0, 9000, 0)],
            sent.map((ns) => message(true, ns, 3, 0)),
        );
        const to = lane(
            0,
            leaf,
            received.map((ns) => message(false, ns, 3, 0)),
        );
        const { messages: m, others } = sceneOfLanes([to, from], []);
        return [Array.from(m.send_ns, (ns, i) => [ns, m.recv_ns[i]]), others];
    };
    /* The first that was received was sent before the other lane begins; the last comes after its end. */
    const two = [
        [1500, 1600],
        [2500, 2600],
    ];
    assert.deepEqual(arrows([1500, 2500, 3500], [1200, 1600, 2600]), [two, 2]);
    /* Which of the sends was received before the lane begins, or which receipt was sent before, nobody knows. */
    assert.deepEqual(arrows([1000, 1500, 2500], [1600, 2600]), [[], 5]);
    assert.deepEqual(arrows([1500, 2500], [1600, 2550, 2600]), [[], 5]);
    assert.deepEqual(arrows([1500, 2500, 2550], [1600, 1700, 2600]), [[], 6]);
});

test("the ends of a message are in the order of time, whichever threads they are of", () => {
    const at = (thread: number, ns: number): Lane => ({
        ...lane(3, [call("MPI_Send", 0, 9000, 0)], [message(true, ns, 3, 0)]),
        thread,
    });
    const own = lane(0, leaf, [message(false, 2000, 3, 0), message(false, 2800, 3, 0)]);
    const { messages: m } = sceneOfLanes([own, at(0, 1700), at(1, 1600)], []);
    assert.deepEqual(Array.from(m.send_ns), [1600, 1700]);
    assert.deepEqual(Array.from(m.from), [2, 1]);
});

test("the chain of causes lies in the lanes that there are", () => {
    const link = (rank: number, func: string, begin: number): RecordCause => ({
        rank,
        thread: 0,
        function: func,
        waits_for: null,
        begin_ns: begin,
        end_ns: begin + 10,
        time_ns: 10,
    });
    const cause = [link(0, "wait", 1200), link(3, "far", 5), link(9, "nowhere", 5)];
    const { links } = sceneOfLanes(
        [lane(0, leaf), lane(3, [call("MPI_Send", 1500, 2800, 0)])],
        cause,
    );
    assert.deepEqual(
        links.map((l) => [l.location, l.call]),
        [
            [0, 3],
            [1, -1],
        ],
    );
});
