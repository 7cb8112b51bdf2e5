// A counter under the lanes of the timeline: what it read, or its rate, over time. Each column of pixels has what was least,
// greatest and the mean in it; where nothing is known there is nothing.
import { Block, Lane, shownTop, stripHeight } from "./rows";
import { Pen } from "./svg_pen";
import { Span } from "./window";

export interface CounterTrack {
    name: string;
    unit: string; /* of the value; of a rate it is per second */
    isRate: boolean;
    begin_ns: number;
    end_ns: number;
    width: number; /* columns from the one to the other */
    isEstimate: boolean;
    fell: number; /* how often what grows was less than before */
    n: number; /* pieces: neighbouring columns of which the same is known */
    location: Uint32Array;
    first: Uint32Array;
    end: Uint32Array;
    least: Float64Array;
    greatest: Float64Array;
    mean: Float64Array;
}

/* From the lower edge of a strip to its upper edge. */
export interface CounterScale {
    low: number;
    high: number;
}

/* Where strips are drawn. */
interface StripPlane {
    window: Span;
    left: number;
    width: number;
    top: number; /* of what scrolls */
    scroll: number;
}

const narrow = 0.2; /* of its greatest value, which a counter varies by: then its scale does not begin at 0 */
const padding = 3;

function timesOf(track: CounterTrack, i: number): Span {
    const step = (track.end_ns - track.begin_ns) / track.width;
    return [track.begin_ns + track.first[i] * step, track.begin_ns + track.end[i] * step];
}

function isIn(track: CounterTrack, i: number, window: Span): boolean {
    const [begin, end] = timesOf(track, i);
    return end > window[0] && begin < window[1];
}

/* What all that is shown was between; null: nothing was read. */
export function counterScale(track: CounterTrack, window: Span): CounterScale | null {
    let [least, greatest] = [Infinity, -Infinity];
    for (let i = 0; i < track.n; i++) {
        if (!isIn(track, i, window)) continue;
        least = Math.min(least, track.least[i]);
        greatest = Math.max(greatest, track.greatest[i]);
    }
    if (least > greatest) return null;
    const isNarrow =
        !track.isRate &&
        least !== greatest &&
        greatest - least < narrow * Math.max(Math.abs(least), Math.abs(greatest));
    if (isNarrow) return { low: least, high: greatest };
    const [low, high] = [Math.min(0, least), Math.max(0, greatest)];
    return { low, high: high > low ? high : low + 1 };
}

/* Under which lane each location with readings is drawn: its own, else that of its rank. */
export function stripsOf(
    track: CounterTrack | null,
    lanes: Lane[],
    rankOf: (location: number) => number | undefined,
): Map<number, number[]> {
    const strips = new Map<number, number[]>();
    const own = new Set(lanes.map(({ location }) => location));
    const ofRank = new Map(
        lanes.filter((l) => !l.isNested).map((l) => [rankOf(l.location), l.location]),
    );
    for (const location of new Set(track?.location)) {
        const lane = own.has(location) ? location : ofRank.get(rankOf(location));
        if (lane !== undefined) strips.set(lane, [...(strips.get(lane) ?? []), location]);
    }
    return strips;
}

/* The location and the piece at a point; null: nothing is known there. y as in the blocks. */
export function counterAt(
    track: CounterTrack,
    blocks: Block[],
    time: number,
    y: number,
): { location: number; piece: number } | null {
    const block = blocks.find((b) => b.strips && y >= b.stripTop! && y < b.top + b.height);
    const location = block?.strips![Math.floor((y - block.stripTop!) / stripHeight)];
    if (location === undefined) return null;
    for (let i = 0; i < track.n; i++) {
        const [begin, end] = timesOf(track, i);
        if (track.location[i] === location && time >= begin && time < end)
            return { location, piece: i };
    }
    return null;
}

interface Inks {
    ink: string;
    dim: string;
}

/* Between two heights a band from the least to the greatest, a line at the mean, and what is below it, faint. */
function drawPiece(
    c: Pen,
    x0: number,
    x1: number,
    y: (value: number) => number,
    i: number,
    t: CounterTrack,
) {
    const [top, bottom] = [y(t.greatest[i]), y(t.least[i])];
    const mean = y(t.mean[i]);
    const ground = y(0);
    c.globalAlpha = 0.15;
    c.fillRect(x0, Math.min(mean, ground), x1 - x0, Math.abs(ground - mean));
    c.globalAlpha = 0.35;
    c.fillRect(x0, top, x1 - x0, bottom - top);
    c.globalAlpha = 1;
    c.fillRect(x0, mean - 0.75, x1 - x0, 1.5);
}

/* The strips of blocks that share a part of the height. */
export function drawStrips(
    c: Pen,
    track: CounterTrack,
    scale: CounterScale,
    blocks: Block[],
    plane: StripPlane,
    inks: Inks,
): void {
    const { window, left, width } = plane;
    const topOf = new Map<number, number>();
    for (const block of blocks)
        block.strips?.forEach((location, k) => {
            const down = block.stripTop! - block.top + k * stripHeight;
            topOf.set(location, plane.top + shownTop(block, plane.scroll) + down);
        });
    const x = (ns: number) =>
        left + ((ns - window[0]) / (window[1] - window[0])) * (width - left);
    for (const top of topOf.values()) {
        c.fillStyle = inks.dim;
        c.globalAlpha = 0.5;
        c.fillRect(left, top + stripHeight - 1, width - left, 0.5);
        c.globalAlpha = 1;
    }
    c.fillStyle = inks.ink;
    const inside = stripHeight - 2 * padding;
    for (let i = 0; i < track.n; i++) {
        const top = topOf.get(track.location[i]);
        if (top === undefined || !isIn(track, i, window)) continue;
        const [begin, end] = timesOf(track, i);
        const x0 = Math.max(x(begin), left);
        const y = (value: number) => {
            const share = (value - scale.low) / (scale.high - scale.low);
            return top + padding + (1 - Math.min(Math.max(share, 0), 1)) * inside;
        };
        drawPiece(c, x0, Math.max(Math.min(x(end), width), x0 + 0.5), y, i, track);
    }
}

/* Beside each strip: what its edges stand for. */
export function drawScales(
    c: Pen,
    edges: [high: string, low: string],
    blocks: Block[],
    plane: StripPlane,
    inks: Inks,
): void {
    c.fillStyle = inks.dim;
    c.font = "10px system-ui, sans-serif";
    c.textAlign = "right";
    c.textBaseline = "middle";
    for (const block of blocks)
        block.strips?.forEach((_, k) => {
            const down = block.stripTop! - block.top + k * stripHeight;
            const top = plane.top + shownTop(block, plane.scroll) + down;
            c.fillText(edges[0], plane.left - 4, top + padding + 3, plane.left - 6);
            c.fillText(
                edges[1],
                plane.left - 4,
                top + stripHeight - padding - 4,
                plane.left - 6,
            );
        });
}
