// Where the locations of the timeline lie: one block each, a row per depth. A folded block keeps all
// its rows, thin and without text.

export interface Calls {
    n: number;
    begin_ns: Float64Array;
    end_ns: Float64Array;
    location: Uint32Array;
    depth: Uint16Array;
    region: Uint32Array;
    call: Uint32Array;
    merged: Uint32Array;
}

/* A location among others, in the order in which they are shown. */
export interface Lane {
    location: number;
    isNested?: boolean; /* under the lane of the rank that it is a thread of */
    threads?: number; /* that this rank has below it, shown or not, with ... */
    streams?: number; /* ... those that are streams of a GPU */
    heading?: string; /* stands above it, of it and those that follow */
    isPinned?: boolean; /* stays where it is while others scroll; these come first */
}

export interface Block extends Lane {
    top: number; /* below the heading */
    depths: number;
    row: number; /* height of a row */
    height: number;
    strips?: number[]; /* locations of which a counter is drawn below its calls ... */
    stripTop?: number; /* ... from here on */
}

export const stripHeight = 34; /* of one of them */
export const openRow = 17;
export const headingHeight = 18;
export const nameHeight = 18; /* a line of the names beside a lane */
const thinRow = 6;
const gap = 10;
const nestedGap = 4;
const mostPinned = 0.6; /* of the height: the others have to be seen, too */

export function plainLanes(locations: number[]): Lane[] {
    return locations.map((location) => ({ location }));
}

/* Pinned lanes scroll as others do where they would leave no `room` for those. */
export function layOutBlocks(
    lanes: Lane[],
    calls: Calls | null,
    isOpen: (location: number) => boolean,
    room = Infinity,
    stripsOf: Map<number, number[]> = new Map(),
): Block[] {
    const deepest = new Map<number, number>();
    if (calls)
        for (let i = 0; i < calls.n; i++)
            if (calls.depth[i] >= (deepest.get(calls.location[i]) ?? 0))
                deepest.set(calls.location[i], calls.depth[i] + 1);
    let bottom = 4 - gap;
    return lanes.map((lane) => {
        const depths = Math.max(1, deepest.get(lane.location) ?? 1);
        const row = isOpen(lane.location) ? openRow : thinRow;
        const top =
            bottom + (lane.isNested ? nestedGap : gap) + (lane.heading ? headingHeight : 0);
        const names = nameHeight * (lane.threads ? 2 : 1);
        const strips = stripsOf.get(lane.location);
        const above = Math.max(names, depths * row);
        const height = above + (strips?.length ?? 0) * stripHeight;
        const stripTop = strips && top + above;
        bottom = top + height;
        const isPinned = lane.isPinned && bottom < mostPinned * room;
        return { ...lane, isPinned, top, depths, row, height, strips, stripTop };
    });
}

/* What pinned lanes take of the height. */
export function pinnedHeight(blocks: Block[]): number {
    return blocks.reduce(
        (most, b) => (b.isPinned ? Math.max(most, b.top + b.height + gap / 2) : most),
        0,
    );
}

/* How far down a lane is on the screen when the others are scrolled. */
export function shownTop(block: Block, scroll: number): number {
    return block.top - (block.isPinned ? 0 : scroll);
}

/* What is at a height on the screen, in the height of the blocks. */
export function unscrolled(y: number, blocks: Block[], scroll: number): number {
    return y < pinnedHeight(blocks) ? y : y + scroll;
}

export function heightOf(blocks: Block[]): number {
    const last = blocks[blocks.length - 1];
    return last ? last.top + last.height + gap : 0;
}

/* The call under a point of the timeline, or -1. y as in the blocks. */
export function callAt(
    calls: Calls,
    blocks: Block[],
    time: number,
    nsPerPixel: number,
    y: number,
): number {
    const block = blocks.find((b) => y >= b.top && y < b.top + b.depths * b.row);
    if (!block) return -1;
    const depth = Math.floor((y - block.top) / block.row);
    for (let i = 0; i < calls.n; i++)
        if (
            calls.location[i] === block.location &&
            calls.depth[i] === depth &&
            calls.begin_ns[i] <= time + nsPerPixel &&
            Math.max(calls.end_ns[i], calls.begin_ns[i] + nsPerPixel) >= time
        )
            return i;
    return -1;
}

/* The locations whose lanes lie between two heights. */
export function lanesBetween(blocks: Block[], y0: number, y1: number): number[] {
    const [from, to] = [Math.min(y0, y1), Math.max(y0, y1)];
    return blocks
        .filter(({ top, height }) => top <= to && top + height >= from)
        .map(({ location }) => location);
}
