// Which messages of a window are drawn: all of the selected execution, the others as long as they do
// not hide the calls, and of those that would cover each other one.
import { MessageColumns } from "./timeline_draw";
import { Span } from "./window";

export interface Arrows {
    list: { message: number; isOwn: boolean }[];
    inWindow: number; /* of those that came from the server, between ranks that are shown */
    drawn: number; /* of these; those that one arrow stands for are counted */
}

export interface Own {
    location: number;
    begin_ns: number;
    end_ns: number;
}

const mostOthers = 150; /* messages that are not its own: beyond it they would hide the calls */
const leastApart = 2; /* pixels: arrows that would be closer are drawn once */

function touches(m: MessageColumns, i: number, own: Own | null): boolean {
    const isThen = (ns: number) => own !== null && ns >= own.begin_ns && ns <= own.end_ns;
    return (
        (m.from[i] === own?.location && isThen(m.send_ns[i])) ||
        (m.to[i] === own?.location && isThen(m.recv_ns[i]))
    );
}

export function chooseArrows(
    m: MessageColumns,
    window: Span,
    pixels: number,
    own: Own | null,
    locations: number[],
): Arrows {
    const isShown = new Set(locations);
    const nsPerStep = ((window[1] - window[0]) / Math.max(1, pixels)) * leastApart;
    const seen: number[] = [];
    for (let i = 0; i < m.n; i++) {
        const [first, last] = [m.send_ns[i], m.recv_ns[i]].sort((a, b) => a - b);
        if (last < window[0] || first > window[1]) continue;
        if (isShown.has(m.from[i]) && isShown.has(m.to[i])) seen.push(i);
    }
    const isOwn = seen.map((i) => touches(m, i, own));
    const hidesCalls = isOwn.filter((is) => !is).length > mostOthers;
    const there = new Set<string>();
    const arrows: Arrows = { list: [], inWindow: seen.length, drawn: 0 };
    seen.forEach((message, k) => {
        if (!isOwn[k] && hidesCalls) return;
        arrows.drawn++;
        const places = [m.send_ns[message], m.recv_ns[message]].map((ns) =>
            Math.round((ns - window[0]) / nsPerStep),
        );
        const key = [m.from[message], m.to[message], ...places].join();
        if (there.has(key)) return;
        there.add(key);
        arrows.list.push({ message, isOwn: isOwn[k] });
    });
    return arrows;
}
