// Where the calls of a record's lanes are drawn: 0..1 across, rows of calls down.
import { Lane } from "../api/live_types";

export interface LaneBar {
    x: number;
    width: number;
    row: number;
    name: string;
    isThis: boolean;
    isAnomaly: boolean;
}

export interface LaidLanes {
    begin: number;
    end: number;
    rows: number;
    titles: { row: number; text: string }[];
    bars: LaneBar[];
    messages: { x: number; row: number; isSend: boolean; text: string }[];
}

/* Time from the first call of the windows to the last; open calls go to the end. A call that
 * began before the windows, such as main, is cut to them. */
export function layLanes(lanes: Lane[]): LaidLanes {
    const chosen = lanes[0]?.calls.find((c) => c.is_this);
    const ended = lanes.flatMap((l) => l.calls).filter((c) => c.leave_ns !== null);
    const around = ended.filter(
        (c) => !chosen || c.enter_ns >= chosen.enter_ns || c.depth >= chosen.depth,
    );
    const begin = Math.min(...around.map((c) => c.enter_ns), chosen?.enter_ns ?? Infinity);
    const end = Math.max(...around.map((c) => c.leave_ns!), chosen?.leave_ns ?? -Infinity);
    const laid: LaidLanes = { begin, end, rows: 0, titles: [], bars: [], messages: [] };
    if (!(end > begin)) return { ...laid, begin: 0, end: 0 };
    const at = (ns: number) => Math.min(Math.max((ns - begin) / (end - begin), 0), 1);
    for (const lane of lanes) {
        const first = laid.rows;
        const depth = Math.max(0, ...lane.calls.map((c) => c.depth + 1));
        laid.titles.push({ row: first, text: `rank ${lane.rank}, thread ${lane.thread}` });
        for (const call of lane.calls) {
            const [from, to] = [at(call.enter_ns), at(call.leave_ns ?? end)];
            if ((call.leave_ns ?? end) < begin || call.enter_ns > end) continue;
            laid.bars.push({
                x: from,
                width: to - from,
                row: first + 1 + call.depth,
                name: call.func,
                isThis: call.is_this,
                isAnomaly: call.is_anomaly,
            });
        }
        for (const m of lane.messages)
            laid.messages.push({
                x: at(m.time_ns),
                row: first,
                isSend: m.is_send,
                text: m.is_send
                    ? `to ${m.target}, ${m.bytes} bytes`
                    : `from ${m.source}, ${m.bytes} bytes`,
            });
        laid.rows = first + 1 + depth;
    }
    return laid;
}
