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

export interface Block {
    location: number;
    top: number;
    depths: number;
    row: number; /* height of a row */
    height: number;
}

export const openRow = 17;
const thinRow = 6;
const gap = 10;
const leastHeight = 18; /* the name of the rank has to fit */

export function layOutBlocks(
    locations: number[],
    calls: Calls | null,
    isOpen: (location: number) => boolean,
): Block[] {
    const deepest = new Map<number, number>();
    if (calls)
        for (let i = 0; i < calls.n; i++)
            if (calls.depth[i] >= (deepest.get(calls.location[i]) ?? 0))
                deepest.set(calls.location[i], calls.depth[i] + 1);
    let top = 4;
    return locations.map((location) => {
        const depths = Math.max(1, deepest.get(location) ?? 1);
        const row = isOpen(location) ? openRow : thinRow;
        const block = {
            location,
            top,
            depths,
            row,
            height: Math.max(leastHeight, depths * row),
        };
        top += block.height + gap;
        return block;
    });
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
