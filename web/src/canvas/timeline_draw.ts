// Draws the timeline: calls as rectangles, messages as arrows between the true times at which they
// were sent and received, the chain of causes numbered, the selected execution framed. At most one
// rectangle per pixel and row, so a few thousand whatever the window is; of messages all of the
// selected execution, the others as long as they do not hide the calls, and of those that would
// cover each other one.
import { scaleLinear } from "d3-scale";
import { ArrowKind, arrowKinds } from "../format/arrow_words";
import { css, inkOn } from "../format/colour";
import { Rgb } from "../format/palette";
import { formatMoment } from "../format/units";
import { counterAt, CounterScale, CounterTrack, drawScales, drawStrips } from "./counter_draw";
import {
    collectiveAt,
    CollectiveColumns,
    CollectiveShape,
    collectiveShapes,
    drawCollectives,
} from "./collectives_draw";
import {
    Block,
    callAt,
    Calls,
    headingHeight,
    Lane,
    openRow,
    pinnedHeight,
    shownTop,
    unscrolled,
} from "./rows";
import { Pen } from "./svg_pen";
import { Span } from "./window";

export interface MessageColumns {
    n: number;
    kind?: Uint8Array; /* index into arrowKinds; without it all are messages */
    send_ns: Float64Array;
    recv_ns: Float64Array;
    from: Uint32Array;
    to: Uint32Array;
    send_call: Uint32Array;
    recv_call: Uint32Array;
    bytes?: Float64Array; /* a record of a program that runs does not have them */
    tag?: Uint32Array;
}

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

/* A call of the chain of causes, and its number in the list beside it. */
export interface Link {
    number: number;
    location: number;
    call: number;
    begin_ns: number;
    end_ns: number;
}

/* A counter, and what the edges of its strips are and are called. */
export interface CounterDrawn {
    track: CounterTrack;
    scale: CounterScale;
    edges: [high: string, low: string];
}

/* What was asked for and is here. */
export interface Covered {
    span: Span;
    locations: number[];
}

export interface Scene {
    window: Span;
    left: number; /* where times begin; names are to the left of it */
    width: number;
    height: number;
    scroll: number;
    blocks: Block[];
    calls: Calls;
    covered?: Covered[]; /* of what there are calls; without it, of all that is drawn */
    messages: MessageColumns | null;
    arrows: Arrows | null;
    collectives?: CollectiveColumns | null;
    chosenCollective?: number | null;
    own: Own | null;
    framed?: Own[]; /* executions that have a frame, as its own one has */
    links: Link[];
    counter?: CounterDrawn | null;
    chosen?: { location: number; depth: number; begin_ns: number; end_ns: number } | null;
    chosenMessage?: number | null;
    colour: (region: number, depth: number, location?: number) => Rgb;
    colourOf?: (i: number) => Rgb; /* of a rectangle, where its function does not decide */
    name: (region: number) => string;
    isMarked: (i: number) => boolean;
    isOutlined?: (i: number) => boolean; /* by dashes: there is nothing like it elsewhere */
    ink: string;
    dim: string;
    hot: string; /* of the chain of causes ... */
    onHot: string; /* ... and of its numbers */
    paper: string;
}

export const axisHeight = 20;
const mostOthers = 150; /* messages that are not its own: beyond it they would hide the calls */
const launchDashes = [5, 3]; /* of what is no message */
const outlineDashes = [3, 2];
const leastOutlined = 5; /* pixels: of what is narrower dashes would hide the colour */
const leastApart = 2; /* pixels: arrows that would be closer are drawn once */

export function arrowKind(m: MessageColumns, i: number): ArrowKind {
    return arrowKinds[m.kind?.[i] ?? 0];
}

/* Messages, and behind them what the server says of calls that had to wait for others. */
export function withDependencies(
    m: MessageColumns,
    d: Record<string, ArrayLike<number>>,
): MessageColumns {
    const n = m.n + d.from_ns.length;
    const real = (a: ArrayLike<number>, b: ArrayLike<number>) =>
        Float64Array.from({ length: n }, (_, i) => (i < m.n ? a[i] : b[i - m.n]));
    const whole = (a: ArrayLike<number>, b: ArrayLike<number>) =>
        Uint32Array.from({ length: n }, (_, i) => (i < m.n ? a[i] : b[i - m.n]));
    return {
        ...m,
        n,
        kind: Uint8Array.from({ length: n }, (_, i) => (i < m.n ? 0 : d.kind[i - m.n] + 1)),
        send_ns: real(m.send_ns, d.from_ns),
        recv_ns: real(m.recv_ns, d.to_ns),
        from: whole(m.from, d.from),
        to: whole(m.to, d.to),
        send_call: whole(m.send_call, d.from_call),
        recv_call: whole(m.recv_call, d.to_call),
    };
}

/* Whether there are messages among them, and not only what waits otherwise. */
export function hasMessages(m: MessageColumns, arrows: Arrows): boolean {
    return arrows.list.some(({ message }) => arrowKind(m, message) === "message");
}

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
    isWanted: (kind: ArrowKind) => boolean = () => true,
): Arrows {
    const isShown = new Set(locations);
    const nsPerStep = ((window[1] - window[0]) / Math.max(1, pixels)) * leastApart;
    const seen: number[] = [];
    for (let i = 0; i < m.n; i++) {
        const [first, last] = [m.send_ns[i], m.recv_ns[i]].sort((a, b) => a - b);
        if (last < window[0] || first > window[1]) continue;
        if (!isWanted(arrowKind(m, i))) continue;
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
        const key = [m.from[message], m.to[message], m.kind?.[message], ...places].join();
        if (there.has(key)) return;
        there.add(key);
        arrows.list.push({ message, isOwn: isOwn[k] });
    });
    return arrows;
}

export function toX(scene: Scene, ns: number): number {
    const [begin, end] = scene.window;
    return scene.left + ((ns - begin) / (end - begin)) * (scene.width - scene.left);
}

/* Depths of a lane, from the top of the canvas. */
function yOfRow(scene: Scene, block: Block, depth: number): number {
    return axisHeight + shownTop(block, scene.scroll) + depth * block.row;
}

function drawAxis(c: Pen, scene: Scene): void {
    c.fillStyle = scene.paper;
    c.fillRect(0, 0, scene.width, axisHeight);
    const scale = scaleLinear().domain(scene.window).range([scene.left, scene.width]);
    const ticks = scale.ticks(Math.max(3, Math.floor((scene.width - scene.left) / 120)));
    const step = ticks.length > 1 ? ticks[1] - ticks[0] : scene.window[1] - scene.window[0];
    c.fillStyle = scene.dim;
    c.font = "11px system-ui, sans-serif";
    c.textBaseline = "middle";
    c.textAlign = "left";
    let free = scene.left; /* right of the last text */
    for (const tick of ticks) {
        const x = scale(tick);
        c.fillRect(x, axisHeight - 6, 1, 6);
        const text = formatMoment(tick, step);
        const wide = c.measureText(text).width;
        const at = x + wide + 6 < scene.width ? x + 4 : x - 4 - wide; /* the last one */
        if (at < free) continue;
        c.fillText(text, at, axisHeight / 2);
        free = at + wide + 6;
    }
}

const hatchApart = 9;

/* Where calls are still on their way: an empty lane would look idle. */
function hatch(c: Pen, scene: Scene, block: Block, from: number, to: number): void {
    if (to - from < 1) return;
    const top = yOfRow(scene, block, 0);
    const height = block.height;
    c.save();
    c.beginPath();
    c.rect(from, top, to - from, height);
    c.clip();
    c.globalAlpha = 0.25;
    c.strokeStyle = scene.dim;
    c.lineWidth = 1;
    c.beginPath();
    for (let x = from - height; x < to; x += hatchApart) {
        c.moveTo(x, top + height);
        c.lineTo(x + height, top);
    }
    c.stroke();
    c.restore();
}

function drawUncovered(c: Pen, scene: Scene, blocks: Block[]): void {
    if (!scene.covered) return;
    for (const block of blocks) {
        const of = scene.covered.find(({ locations }) => locations.includes(block.location));
        const [begin, end] = of ? of.span.map((ns) => toX(scene, ns)) : [Infinity, Infinity];
        hatch(c, scene, block, scene.left, Math.min(Math.max(begin, scene.left), scene.width));
        hatch(c, scene, block, Math.max(end, scene.left), scene.width);
    }
}

/* What is written on calls, when messages are drawn: they are never over text. */
type Names = (() => void)[];

function drawCalls(c: Pen, scene: Scene, blocks: Block[]): Names {
    const { calls } = scene;
    const names: Names = [];
    const blockOf = new Map(blocks.map((b) => [b.location, b]));
    const drawnTo = new Map<number, number>(); /* row -> the x it is filled to */
    for (let i = 0; i < calls.n; i++) {
        const block = blockOf.get(calls.location[i]);
        if (!block || calls.end_ns[i] < scene.window[0] || calls.begin_ns[i] > scene.window[1])
            continue;
        const y = yOfRow(scene, block, calls.depth[i]);
        if (y + block.row < axisHeight || y > scene.height) continue;
        const right = Math.min(toX(scene, calls.end_ns[i]), scene.width);
        const key = block.location * 65536 + calls.depth[i];
        const isMarked = scene.isMarked(i);
        const from = Math.max(toX(scene, calls.begin_ns[i]), scene.left);
        const filled = drawnTo.get(key) ?? -1;
        if (right < filled + 1 && !isMarked) continue;
        const x = Math.min(Math.max(from, filled), right);
        const width = Math.max(1, right - x);
        drawnTo.set(key, x + width);
        const colour =
            scene.colourOf?.(i) ??
            scene.colour(calls.region[i], calls.depth[i], block.location);
        c.fillStyle = css(colour);
        c.globalAlpha = calls.merged[i] > 1 ? 0.7 : 1;
        c.fillRect(x, y, Math.max(1, width - (width > 4 ? 1 : 0)), block.row - 1);
        c.globalAlpha = 1;
        if (isMarked) frame(c, scene.ink, x, y, width, block.row - 1, 2);
        else if (width >= leastOutlined && scene.isOutlined?.(i)) {
            c.setLineDash(outlineDashes);
            frame(c, inkOn(colour), x + 0.5, y + 0.5, width - 2, block.row - 2, 1);
            c.setLineDash([]);
        }
        if (block.row >= openRow && width > 34)
            names.push(() => writeName(c, scene, i, colour, x, y, width, block.row));
    }
    return names;
}

function writeName(
    c: Pen,
    scene: Scene,
    i: number,
    colour: Rgb,
    x: number,
    y: number,
    width: number,
    row: number,
): void {
    const most = Math.floor((width - 8) / 6);
    const merged = scene.calls.merged[i];
    const name = scene.name(scene.calls.region[i]) + (merged > 1 ? ` × ${merged}` : "");
    c.fillStyle = inkOn(colour);
    c.font = "11px system-ui, sans-serif";
    c.textAlign = "left";
    c.textBaseline = "middle";
    c.fillText(
        name.length <= most ? name : `${name.slice(0, Math.max(1, most - 1))}…`,
        x + 4,
        y + row / 2,
        width - 6,
    );
}

function frame(
    c: Pen,
    colour: string,
    x: number,
    y: number,
    width: number,
    height: number,
    line: number,
): void {
    c.strokeStyle = colour;
    c.lineWidth = line;
    c.strokeRect(x, y, Math.max(3, width), height);
}

/* Where the call of a message lies: the middle of its row, or of the block when it is not drawn. */
function heights(scene: Scene): YOf {
    const blockOf = new Map(scene.blocks.map((b) => [b.location, b]));
    const depthOf = new Map<string, number>();
    const { calls } = scene;
    for (let i = 0; i < calls.n; i++)
        depthOf.set(`${calls.location[i]}/${calls.call[i]}`, calls.depth[i]);
    return (location, call) => {
        const block = blockOf.get(location);
        if (!block) return null;
        const depth = depthOf.get(`${location}/${call}`) ?? block.depths / 2;
        return yOfRow(scene, block, depth + 0.5);
    };
}

/* A line that is seen on any colour, if it has a halo: twice, the first time wider and as the paper. */
function haloed(c: Pen, scene: Scene, hasHalo: boolean, line: number, draw: () => void): void {
    const colour = c.strokeStyle;
    if (hasHalo) {
        c.strokeStyle = scene.paper;
        c.lineWidth = line + 2;
        draw();
    }
    c.strokeStyle = colour;
    c.lineWidth = line;
    draw();
}

function arrow(c: Pen, x0: number, y0: number, x1: number, y1: number, head: number): void {
    const angle = Math.atan2(y1 - y0, x1 - x0);
    c.beginPath();
    c.moveTo(x0, y0);
    c.lineTo(x1, y1);
    for (const side of [-0.4, 0.4]) {
        c.moveTo(x1, y1);
        c.lineTo(x1 - head * Math.cos(angle + side), y1 - head * Math.sin(angle + side));
    }
    c.stroke();
}

/* Where an arrow is drawn, and for what the pointer is at. */
export interface ArrowLine {
    message: number;
    isOwn: boolean;
    from: [number, number];
    to: [number, number];
}

type YOf = (location: number, call: number) => number | null;

function arrowLines(scene: Scene, yOf: YOf): ArrowLine[] {
    const { messages: m } = scene;
    if (!m) return [];
    return (scene.arrows?.list ?? []).flatMap(({ message: i, isOwn }) => {
        const [y0, y1] = [yOf(m.from[i], m.send_call[i]), yOf(m.to[i], m.recv_call[i])];
        if (y0 === null || y1 === null) return [];
        return [
            {
                message: i,
                isOwn,
                from: [toX(scene, m.send_ns[i]), y0],
                to: [toX(scene, m.recv_ns[i]), y1],
            },
        ];
    });
}

function shapesOf(scene: Scene, yOf: YOf): CollectiveShape[] {
    const { collectives, window } = scene;
    if (!collectives) return [];
    const plane = { x: (ns: number) => toX(scene, ns), y: yOf };
    return collectiveShapes(collectives, plane, window, scene.chosenCollective ?? null);
}

function drawMessages(c: Pen, scene: Scene, lines: ArrowLine[]): void {
    for (const { message, isOwn, from, to } of lines) {
        const isWhole =
            Math.min(from[0], to[0]) >= scene.left && Math.max(from[0], to[0]) <= scene.width;
        const isChosen = message === scene.chosenMessage;
        const isClear = isChosen || (isOwn && isWhole);
        c.strokeStyle = isOwn || isChosen ? scene.ink : scene.dim;
        const isMessage = arrowKind(scene.messages!, message) === "message";
        c.globalAlpha = isClear
            ? isMessage || isChosen
                ? 0.9
                : 0.45
            : 0.3; /* one end elsewhere: it says little here */
        const line = isChosen ? 3 : isClear && isMessage ? 1.2 : 0.8;
        haloed(c, scene, isClear, line, () => {
            c.setLineDash(isMessage ? [] : launchDashes);
            arrow(c, ...from, ...to, 6);
        });
    }
    c.setLineDash([]);
    c.globalAlpha = 1;
}

/* The message of the arrow nearest to a point, or -1 when none is within `reach`. */
export function messageAt(lines: ArrowLine[], x: number, y: number, reach: number): number {
    let best = -1;
    let least = reach;
    for (const { message, from, to } of lines) {
        const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
        const along = ((x - from[0]) * dx + (y - from[1]) * dy) / (dx * dx + dy * dy || 1);
        const t = Math.min(Math.max(along, 0), 1);
        const apart = Math.hypot(x - from[0] - t * dx, y - from[1] - t * dy);
        if (apart < least) {
            least = apart;
            best = message;
        }
    }
    return best;
}

/* What lies under a point; -1 and null: nothing of that. */
export interface Found {
    call: number;
    message: number;
    collective: number;
    counter: { of: CounterTrack; location: number; piece: number } | null;
}

/* What is drawn between lanes, and where. */
export interface Between {
    lines: ArrowLine[];
    shapes: CollectiveShape[];
}

export function betweenLanes(scene: Scene, yOf: YOf = heights(scene)): Between {
    return { lines: arrowLines(scene, yOf), shapes: shapesOf(scene, yOf) };
}

const reach = 4; /* units from an arrow that are still at it */

/* How far down a point of the canvas is, in the height of the blocks. */
export function heightAt({ blocks, scroll }: Scene, y: number): number {
    return unscrolled(y - axisHeight, blocks, scroll);
}

export function foundAt(scene: Scene, { lines, shapes }: Between, x: number, y: number): Found {
    const { calls, blocks, window, left } = scene;
    if (y < axisHeight || x < left)
        return { call: -1, message: -1, collective: -1, counter: null };
    const message = messageAt(lines, x, y, reach);
    const collective = message < 0 ? collectiveAt(shapes, x, y, reach) : -1;
    const nsPerPixel = (window[1] - window[0]) / Math.max(1, scene.width - left);
    const time = window[0] + (x - left) * nsPerPixel;
    const down = heightAt(scene, y);
    const of = scene.counter?.track;
    const piece = of && counterAt(of, blocks, time, down);
    return {
        call: callAt(calls, blocks, time, nsPerPixel, down),
        message,
        collective,
        counter: of && piece ? { of, ...piece } : null,
    };
}

function drawLinks(
    c: Pen,
    scene: Scene,
    yOf: (location: number, call: number) => number | null,
): void {
    const places: [number, number, number][] = [];
    for (const link of scene.links) {
        const y = yOf(link.location, link.call);
        if (y === null) continue;
        const [x0, x1] = [toX(scene, link.begin_ns), toX(scene, link.end_ns)];
        const from = Math.max(x0, scene.left);
        const width = Math.min(x1, scene.width) - from;
        if (x1 >= from)
            for (const [colour, line] of [
                [scene.paper, 5],
                [scene.hot, 3],
            ] as const)
                frame(c, colour, from, y - openRow / 2, width, openRow, line);
        places.push([Math.min(Math.max(x0, scene.left) - 10, scene.width - 9), y, link.number]);
    }
    c.strokeStyle = scene.hot;
    c.setLineDash([6, 3]);
    haloed(c, scene, true, 2.5, () =>
        places.slice(1).forEach(([x, y], k) => arrow(c, places[k][0], places[k][1], x, y, 8)),
    );
    c.setLineDash([]);
    for (const [x, y, number] of places) {
        for (const [colour, radius] of [
            [scene.paper, 9.5],
            [scene.hot, 8],
        ] as const) {
            c.beginPath();
            c.arc(x, y, radius, 0, 2 * Math.PI);
            c.fillStyle = colour;
            c.fill();
        }
        c.fillStyle = scene.onHot;
        c.font = "bold 11px system-ui, sans-serif";
        c.textAlign = "center";
        c.textBaseline = "middle";
        c.fillText(String(number), x, y + 0.5);
    }
}

function drawOwn(c: Pen, scene: Scene, blocks: Block[]): void {
    for (const own of [...(scene.own ? [scene.own] : []), ...(scene.framed ?? [])]) {
        const block = blocks.find((b) => b.location === own.location);
        if (!block) continue;
        const [x0, x1] = [toX(scene, own.begin_ns), toX(scene, own.end_ns)];
        const y = yOfRow(scene, block, 0);
        frame(c, scene.ink, x0 - 1, y - 2, x1 - x0 + 2, block.depths * block.row + 3, 1.5);
    }
}

function drawChosen(c: Pen, scene: Scene, blocks: Block[]): void {
    const { chosen } = scene;
    const block = chosen && blocks.find((b) => b.location === chosen.location);
    if (!chosen || !block) return;
    const [x0, x1] = [toX(scene, chosen.begin_ns), toX(scene, chosen.end_ns)];
    if (x1 < scene.left || x0 > scene.width) return;
    const y = yOfRow(scene, block, chosen.depth);
    frame(c, scene.paper, x0 - 2, y - 2, x1 - x0 + 4, block.row + 3, 5);
    frame(c, scene.ink, x0 - 2, y - 2, x1 - x0 + 4, block.row + 3, 2.5);
}

/* Draws where the lanes are that scroll, or that do not; from where times begin, unless `left` says otherwise. */
function within(
    c: Pen,
    scene: Scene,
    { top, bottom, left = scene.left }: { top: number; bottom: number; left?: number },
    draw: () => void,
): void {
    c.save();
    c.beginPath();
    c.rect(left, axisHeight + top, scene.width - left, bottom - top);
    c.clip();
    draw();
    c.restore();
}

/* Lanes that share a part of the height, and which part. */
interface Part {
    blocks: Block[];
    top: number;
    bottom: number;
}

function partsOf(scene: Scene): Part[] {
    const bottom = scene.height - axisHeight;
    const top = pinnedHeight(scene.blocks);
    const scrolled = { blocks: scene.blocks.filter((b) => !b.isPinned), top, bottom };
    if (!top) return [scrolled];
    return [scrolled, { blocks: scene.blocks.filter((b) => b.isPinned), top: 0, bottom: top }];
}

function drawCounter(c: Pen, scene: Scene, { blocks, top, bottom }: Part): void {
    if (!scene.counter) return;
    const { track, scale, edges } = scene.counter;
    const plane = { ...scene, top: axisHeight };
    within(c, scene, { top, bottom }, () => drawStrips(c, track, scale, blocks, plane, scene));
    within(c, scene, { top, bottom, left: 0 }, () =>
        drawScales(c, edges, blocks, plane, scene),
    );
}

export function drawTimeline(c: Pen, scene: Scene): void {
    const yOf = heights(scene);
    const { lines, shapes } = betweenLanes(scene, yOf);
    const parts = partsOf(scene);
    const names = parts.map(() => [] as Names);
    parts.forEach(({ blocks, top, bottom }, k) =>
        within(c, scene, { top, bottom }, () => {
            drawUncovered(c, scene, blocks);
            names[k] = drawCalls(c, scene, blocks);
        }),
    );
    parts.forEach((part) => drawCounter(c, scene, part));
    const isPinned = new Set(parts[1]?.blocks.map((b) => b.location));
    const holds = (l: ArrowLine) =>
        isPinned.has(scene.messages!.from[l.message]) ||
        isPinned.has(scene.messages!.to[l.message]);
    const inks = { ink: scene.ink, paper: scene.paper, chosen: scene.chosenCollective ?? null };
    const holdsPart = (s: CollectiveShape) =>
        s.corners.some(({ part }) => isPinned.has(scene.collectives!.parts.location[part]));
    // What reaches a pinned lane is drawn over all of the height, what does not behind the pinned ones.
    parts.forEach((_, k) =>
        within(c, scene, { top: k ? 0 : parts[0].top, bottom: parts[0].bottom }, () => {
            drawCollectives(
                c,
                shapes.filter((s) => holdsPart(s) === k > 0),
                inks,
            );
            drawMessages(
                c,
                scene,
                lines.filter((l) => holds(l) === k > 0),
            );
        }),
    );
    parts.forEach(({ blocks, top, bottom }, k) =>
        within(c, scene, { top, bottom }, () => {
            names[k].forEach((write) => write());
            drawOwn(c, scene, blocks);
            drawChosen(c, scene, blocks);
        }),
    );
    if (parts.length > 1) {
        c.fillStyle = scene.dim;
        c.fillRect(0, axisHeight + parts[0].top - 1, scene.width, 1);
    }
    // Not clipped to where times are: the number stands beside the names of ranks if need be.
    drawLinks(c, scene, yOf);
    drawAxis(c, scene);
}

/* For a picture to be saved; on the page, the names are buttons. */
export function drawNames(c: Pen, scene: Scene, nameOf: (lane: Lane) => string): void {
    c.textAlign = "left";
    c.textBaseline = "middle";
    for (const block of scene.blocks) {
        const y = yOfRow(scene, block, 0);
        c.fillStyle = scene.dim;
        c.font = "bold 11px system-ui, sans-serif";
        if (block.heading)
            c.fillText(block.heading, block.isNested ? 14 : 4, y - headingHeight / 2);
        c.font = "12px system-ui, sans-serif";
        if (block.location === scene.own?.location) c.fillStyle = scene.ink;
        c.fillText(nameOf(block), block.isNested ? 14 : 4, y + 9);
    }
}
