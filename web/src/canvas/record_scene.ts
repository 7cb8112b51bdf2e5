// The windows of a record as what the timeline draws: a location per lane, calls, messages between
// lanes, and the chain of causes.
import { Lane, RecordCause } from "../api/live_types";
import { Calls } from "./rows";
import { Link, MessageColumns } from "./timeline_draw";
import { Span } from "./window";

export interface RecordScene {
    calls: Calls;
    names: string[]; /* of the regions of `calls` */
    messages: MessageColumns;
    others: number; /* sends and receipts whose other end is in no lane, or not known */
    links: Link[];
    whole: Span;
    span: Span; /* what is seen first: the call, with some of what is around it */
    isAnomaly: Uint8Array; /* per call */
    isThis: Uint8Array;
}

const around = 0.15; /* of the duration of the call, at both ends */

interface Flat {
    lane: number;
    at: number; /* in its lane */
    func: string;
    begin: number;
    end: number;
    depth: number;
    isAnomaly: boolean;
    isThis: boolean;
}

/* From the first call that ends to the last; open calls reach the end. */
function wholeOf(lanes: Lane[]): Span {
    const chosen = lanes[0]?.calls.find((c) => c.is_this);
    const ended = lanes.flatMap((l) => l.calls).filter((c) => c.leave_ns !== null);
    const inner = ended.filter(
        (c) => !chosen || c.enter_ns >= chosen.enter_ns || c.depth >= chosen.depth,
    );
    const begin = Math.min(...inner.map((c) => c.enter_ns), chosen?.enter_ns ?? Infinity);
    const end = Math.max(...inner.map((c) => c.leave_ns!), chosen?.leave_ns ?? -Infinity);
    return end > begin ? [begin, end] : [begin, begin + 1];
}

function flatten(lanes: Lane[], [begin, end]: Span): Flat[] {
    return lanes.flatMap((lane, k) =>
        lane.calls
            .map((c, at) => ({
                lane: k,
                at,
                func: c.func,
                begin: Math.max(c.enter_ns, begin),
                end: Math.min(c.leave_ns ?? end, end),
                depth: c.depth,
                isAnomaly: c.is_anomaly,
                isThis: c.is_this,
            }))
            .filter((c) => c.end >= c.begin),
    );
}

type End = [lane: number, ns: number];

interface Ends {
    send: End[];
    recv: End[];
}

/*
 * Messages of the same ranks, tag and size are received in the order in which they were sent. Lanes begin and end at
 * different times, so either end of a message may not be here:
 *
 *   sent          [      1  2  3  4
 *   received    [   0    1  2  3   ]
 *
 * What was received before the first was sent (0), or sent after the last was received (4), has no other end here. Of the
 * rest it is taken that none was under way when the lanes begin: the first belongs to the first. Where they are not as many,
 * or one would be received before it was sent, it is not so, and which belong together is not known.
 */
function pairsOf({ send, recv }: Ends): [End, End][] {
    const inTime = (ends: End[]) => [...ends].sort((a, b) => a[1] - b[1]); /* of all threads */
    const [sent, received] = [inTime(send), inTime(recv)];
    const first = sent[0]?.[1] ?? Infinity;
    const last = received[received.length - 1]?.[1] ?? -Infinity;
    const from = sent.filter(([, ns]) => ns <= last);
    const to = received.filter(([, ns]) => ns >= first);
    const areKnown = from.length === to.length && from.every(([, ns], i) => ns <= to[i][1]);
    return areKnown ? from.map((end, i) => [end, to[i]]) : [];
}

function pairMessages(lanes: Lane[]): { pairs: number[][]; others: number } {
    const byKey = new Map<string, Ends>();
    lanes.forEach((lane, k) => {
        for (const m of lane.messages) {
            const key = [m.source, m.target, m.tag, m.bytes].join();
            if (!byKey.has(key)) byKey.set(key, { send: [], recv: [] });
            byKey.get(key)![m.is_send ? "send" : "recv"].push([k, m.time_ns]);
        }
    });
    const pairs: number[][] = [];
    let others = 0;
    for (const ends of byKey.values()) {
        const known = pairsOf(ends);
        others += ends.send.length + ends.recv.length - 2 * known.length;
        for (const [from, to] of known) pairs.push([...from, ...to]);
    }
    return { pairs, others };
}

/* The call of a lane in which something happened then: the deepest that is open. */
function callThen(lane: Lane, ns: number): number {
    let best = 0;
    lane.calls.forEach((c, i) => {
        const isOpen = c.enter_ns <= ns && (c.leave_ns ?? Infinity) >= ns;
        if (isOpen && c.depth >= lane.calls[best].depth) best = i;
    });
    return best;
}

function linksOf(lanes: Lane[], cause: RecordCause[]): Link[] {
    return cause.flatMap((link, k) => {
        const location = lanes.findIndex(
            (l) => l.rank === link.rank && l.thread === link.thread,
        );
        if (location < 0) return [];
        const { calls } = lanes[location];
        const call = calls.findIndex(
            (c) => c.func === link.function && Math.abs(c.enter_ns - link.begin_ns) < 2,
        );
        return [
            { number: k + 1, location, call, begin_ns: link.begin_ns, end_ns: link.end_ns },
        ];
    });
}

export function sceneOfLanes(lanes: Lane[], cause: RecordCause[]): RecordScene {
    const whole = wholeOf(lanes);
    const flat = flatten(lanes, whole);
    const n = flat.length;
    const names = [...new Set(flat.map((c) => c.func))];
    const numberOf = new Map(names.map((name, i) => [name, i]));
    const calls: Calls = {
        n,
        begin_ns: Float64Array.from(flat, (c) => c.begin),
        end_ns: Float64Array.from(flat, (c) => c.end),
        location: Uint32Array.from(flat, (c) => c.lane),
        depth: Uint16Array.from(flat, (c) => c.depth),
        region: Uint32Array.from(flat, (c) => numberOf.get(c.func)!),
        call: Uint32Array.from(flat, (c) => c.at),
        merged: new Uint32Array(n).fill(1),
    };
    const { pairs, others } = pairMessages(lanes);
    const messages: MessageColumns = {
        n: pairs.length,
        from: Uint32Array.from(pairs, (p) => p[0]),
        send_ns: Float64Array.from(pairs, (p) => p[1]),
        to: Uint32Array.from(pairs, (p) => p[2]),
        recv_ns: Float64Array.from(pairs, (p) => p[3]),
        send_call: Uint32Array.from(pairs, (p) => callThen(lanes[p[0]], p[1])),
        recv_call: Uint32Array.from(pairs, (p) => callThen(lanes[p[2]], p[3])),
    };
    const own = flat.find((c) => c.isThis);
    const margin = own ? Math.max(10, (own.end - own.begin) * around) : 0;
    return {
        calls,
        names,
        messages,
        others,
        links: linksOf(lanes, cause),
        whole,
        span: own
            ? [Math.max(whole[0], own.begin - margin), Math.min(whole[1], own.end + margin)]
            : whole,
        isAnomaly: Uint8Array.from(flat, (c) => Number(c.isAnomaly)),
        isThis: Uint8Array.from(flat, (c) => Number(c.isThis)),
    };
}
