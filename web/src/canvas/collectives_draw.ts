// Collective operations in the timeline: one shape each, across the lanes that take part. Its left edge is
// where they came, its right edge when the last of them did, or the root that is waited for: between the two
// they waited. The one that was waited for is marked.
import { Pen } from "./svg_pen";
import { Span } from "./window";

interface CollectiveParts {
    n: number;
    of: Uint32Array; /* which collective it is a part of; those of one follow each other */
    location: Uint32Array;
    call: Uint32Array;
    begin_ns: Float64Array;
    end_ns: Float64Array;
    wait_ns: Float64Array;
}

/* What took place, and the parts of it on the lanes that are shown. */
export interface CollectiveColumns {
    n: number;
    region: Uint32Array;
    members: Uint32Array;
    known: Uint32Array;
    last_location: Uint32Array;
    last_call: Uint32Array;
    last_ns: Float64Array;
    wait_ns: Float64Array;
    parts: CollectiveParts;
}

export interface CollectiveShape {
    collective: number;
    x: number; /* when nobody had to wait any more */
    corners: { x: number; y: number; part: number }[]; /* from the top lane to the lowest */
    last: number | null; /* y of the one that was waited for; null: it is not shown */
}

export interface Plane {
    x: (ns: number) => number;
    y: (location: number, call: number) => number | null; /* null: there is no lane */
}

const mostUnseen = 30; /* in a window: of more, only those in which somebody is seen to wait */
const leastSeen = 2; /* pixels of waiting that are seen */

/* Those in a window of which two lanes are there, as shapes. */
function shapesIn(c: CollectiveColumns, { x, y }: Plane, window: Span): CollectiveShape[] {
    const { parts } = c;
    const shapes = new Map<number, CollectiveShape>();
    for (let i = 0; i < parts.n; i++) {
        const collective = parts.of[i];
        const height = y(parts.location[i], parts.call[i]);
        if (height === null || parts.end_ns[i] < window[0] || parts.begin_ns[i] > window[1])
            continue;
        const shape = shapes.get(collective) ?? {
            collective,
            x: x(c.last_ns[collective]),
            corners: [],
            last: null,
        };
        shapes.set(collective, shape);
        const from = parts.wait_ns[i] > 0 ? x(parts.begin_ns[i]) : shape.x;
        shape.corners.push({ x: Math.min(from, shape.x), y: height, part: i });
        if (parts.location[i] === c.last_location[collective]) shape.last = height;
    }
    return [...shapes.values()].filter((s) => s.corners.length > 1);
}

/* Of many, those with a wait that can be seen. */
export function collectiveShapes(
    c: CollectiveColumns,
    plane: Plane,
    window: Span,
    chosen: number | null,
): CollectiveShape[] {
    const there = shapesIn(c, plane, window);
    const isSeen = (s: CollectiveShape) =>
        s.collective === chosen || s.corners.some((corner) => s.x - corner.x >= leastSeen);
    const seen = there.length > mostUnseen ? there.filter(isSeen) : there;
    for (const shape of seen) shape.corners.sort((a, b) => a.y - b.y);
    return seen;
}

/* How many there are between lanes, and how many of them are drawn, where the window has so many pixels. */
export function countCollectives(
    c: CollectiveColumns,
    window: Span,
    pixels: number,
    locations: number[],
): { inWindow: number; drawn: number } {
    const isShown = new Set(locations);
    const plane: Plane = {
        x: (ns) => ((ns - window[0]) / (window[1] - window[0])) * pixels,
        y: (location) => (isShown.has(location) ? 0 : null),
    };
    return {
        inWindow: shapesIn(c, plane, window).length,
        drawn: collectiveShapes(c, plane, window, null).length,
    };
}

interface CollectiveInks {
    ink: string;
    paper: string;
    chosen: number | null;
}

function drawOne(pen: Pen, shape: CollectiveShape, inks: CollectiveInks): void {
    const { corners, x, last } = shape;
    const isChosen = shape.collective === inks.chosen;
    const [first, lowest] = [corners[0], corners[corners.length - 1]];
    pen.beginPath();
    pen.moveTo(x, first.y);
    for (const corner of corners) pen.lineTo(corner.x, corner.y);
    pen.lineTo(x, lowest.y);
    pen.fillStyle = inks.ink;
    pen.globalAlpha = isChosen ? 0.25 : 0.07;
    pen.fill();
    pen.globalAlpha = isChosen ? 1 : 0.6;
    pen.strokeStyle = inks.ink;
    pen.lineWidth = isChosen ? 3 : 1.2;
    pen.beginPath();
    pen.moveTo(x, first.y);
    pen.lineTo(x, lowest.y);
    pen.stroke();
    for (const corner of corners) pen.fillRect(corner.x - 1.5, corner.y - 1.5, 3, 3);
    pen.globalAlpha = 1;
    if (last === null) return;
    const half = isChosen ? 6 : 4;
    pen.beginPath();
    pen.moveTo(x - half, last);
    pen.lineTo(x, last - half);
    pen.lineTo(x + half, last);
    pen.lineTo(x, last + half);
    pen.lineTo(x - half, last);
    pen.fillStyle = inks.ink;
    pen.fill();
    pen.strokeStyle = inks.paper;
    pen.lineWidth = 1;
    pen.stroke();
}

export function drawCollectives(
    pen: Pen,
    shapes: CollectiveShape[],
    inks: CollectiveInks,
): void {
    for (const shape of shapes) drawOne(pen, shape, inks);
}

/* The collective whose right edge is nearest to a point, or -1 when none is within `reach`. */
export function collectiveAt(
    shapes: CollectiveShape[],
    x: number,
    y: number,
    reach: number,
): number {
    let best = -1;
    let least = reach;
    for (const { collective, x: edge, corners } of shapes) {
        const [top, bottom] = [corners[0].y, corners[corners.length - 1].y];
        const apart = Math.abs(x - edge);
        if (y >= top - reach && y <= bottom + reach && apart < least) {
            least = apart;
            best = collective;
        }
    }
    return best;
}

/* The one that a call takes part in, or -1. */
export function collectiveOfCall(c: CollectiveColumns, location: number, call: number): number {
    const { parts } = c;
    for (let i = 0; i < parts.n; i++)
        if (parts.location[i] === location && parts.call[i] === call) return parts.of[i];
    return -1;
}
