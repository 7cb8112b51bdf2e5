import assert from "node:assert/strict";
import test from "node:test";
import { ArrowLine, chooseArrows, messageAt, MessageColumns } from "./timeline_draw";

function messages(n: number, sent: (i: number) => number, from: number): MessageColumns {
    const send_ns = Float64Array.from({ length: n }, (_, i) => sent(i));
    return {
        n,
        send_ns,
        recv_ns: send_ns.map((ns) => ns + 5),
        from: new Uint32Array(n).fill(from),
        to: new Uint32Array(n).fill(from + 1),
        send_call: new Uint32Array(n),
        recv_call: new Uint32Array(n),
    };
}

test("few messages are all drawn, and counted when one arrow stands for several", () => {
    const apart = chooseArrows(
        messages(10, (i) => i * 100, 0),
        [0, 1000],
        1000,
        null,
        [0, 1],
    );
    assert.deepEqual([apart.inWindow, apart.drawn, apart.list.length], [10, 10, 10]);
    const same = chooseArrows(
        messages(10, () => 100, 0),
        [0, 1000],
        1000,
        null,
        [0, 1],
    );
    assert.deepEqual([same.inWindow, same.drawn, same.list.length], [10, 10, 1]);
});

test("many that are not its own are not drawn, but counted", () => {
    const m = messages(1000, (i) => i, 0);
    const own = { location: 0, begin_ns: 100, end_ns: 109 };
    const some = chooseArrows(m, [0, 2000], 100000, own, [0, 1]);
    assert.deepEqual([some.inWindow, some.drawn], [1000, 10]);
    assert.ok(some.list.every((a) => a.isOwn));
});

test("what is elsewhere or between ranks that are not shown does not count", () => {
    const m = messages(10, (i) => i * 100, 0);
    assert.equal(chooseArrows(m, [500, 2000], 1000, null, [0, 1]).inWindow, 5);
    assert.equal(chooseArrows(m, [0, 2000], 1000, null, [0]).inWindow, 0);
});

test("the message at a point is that of the nearest arrow, if one is near", () => {
    const lines = [
        { message: 7, isOwn: true, from: [0, 0], to: [100, 0] },
        { message: 9, isOwn: false, from: [0, 50], to: [100, 50] },
    ] as ArrowLine[];
    assert.equal(messageAt(lines, 50, 3, 5), 7);
    assert.equal(messageAt(lines, 50, 48, 5), 9);
    assert.equal(messageAt(lines, 50, 25, 5), -1);
    assert.equal(messageAt(lines, 120, 0, 5), -1, "beyond its end");
});
