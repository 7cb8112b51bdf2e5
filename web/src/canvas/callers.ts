// Who called what, among the rectangles of the timeline: they come without their callers, but a
// caller is the rectangle of that depth around it.
import { Calls } from "./rows";

export interface Lookup {
    caller: (i: number, depth: number) => number; /* -1: it is not there */
    beside: (i: number, by: 1 | -1) => number; /* before or behind it in its row; -1: none */
}

/* The first of `rows` (ascending) that is not below `least`. */
function lowerBound(rows: ArrayLike<number>, least: number): number {
    let low = 0;
    let high = rows.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (rows[middle] < least) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Rectangles must be in order of time within a location and a depth. O(n), a lookup O(log n). */
export function lookup(calls: Calls): Lookup {
    const rows = new Map<number, number[]>();
    const begins = new Map<number, number[]>();
    const place = new Uint32Array(calls.n);
    const key = (i: number, depth: number) => calls.location[i] * 65536 + depth;
    for (let i = 0; i < calls.n; i++) {
        const k = key(i, calls.depth[i]);
        if (!rows.has(k)) {
            rows.set(k, []);
            begins.set(k, []);
        }
        place[i] = rows.get(k)!.push(i) - 1;
        begins.get(k)!.push(calls.begin_ns[i]);
    }
    return {
        caller: (i, depth) => {
            const row = rows.get(key(i, depth));
            if (!row) return -1;
            // Behind the last that begins when it does: whole numbers of nanoseconds.
            const at = lowerBound(begins.get(key(i, depth))!, calls.begin_ns[i] + 1);
            // Calls without length lie at the same time as what comes behind them.
            for (let k = at - 1; k >= 0; k--) {
                if (calls.end_ns[row[k]] >= calls.end_ns[i]) return row[k];
                if (calls.begin_ns[row[k]] < calls.begin_ns[i]) return -1;
            }
            return -1;
        },
        beside: (i, by) => rows.get(key(i, calls.depth[i]))![place[i] + by] ?? -1,
    };
}

/*
 * Whether a rectangle is a call on a path that begins at rootDepth. A caller that several calls
 * were merged into could be any of them: it is taken to be the one of the path.
 */
export function isOnPath(
    calls: Calls,
    of: Lookup,
    name: (region: number) => string,
    i: number,
    rootDepth: number,
    path: string[],
): boolean {
    const last = path.length - 1;
    if (calls.depth[i] !== rootDepth + last || name(calls.region[i]) !== path[last])
        return false;
    for (let k = last - 1; k >= 0; k--) {
        const caller = of.caller(i, rootDepth + k);
        if (caller < 0) return false;
        if (calls.merged[caller] === 1 && name(calls.region[caller]) !== path[k]) return false;
    }
    return true;
}

/* The regions from rootDepth down to a rectangle; null when a caller is not there. */
export function pathOfCall(
    calls: Calls,
    of: Lookup,
    i: number,
    rootDepth: number,
): number[] | null {
    const path: number[] = [];
    for (let depth = rootDepth; depth < calls.depth[i]; depth++) {
        const caller = of.caller(i, depth);
        if (caller < 0) return null;
        path.push(calls.region[caller]);
    }
    return [...path, calls.region[i]];
}

/*
 * Whether one of `rows` (ascending) is a rectangle's call. Where calls were merged, `call` is one of
 * them, and the others lie between those of the rectangles beside it.
 */
export function holdsRow(
    calls: Calls,
    of: Lookup,
    i: number,
    rows: ArrayLike<number>,
): boolean {
    if (calls.merged[i] === 1) return rows[lowerBound(rows, calls.call[i])] === calls.call[i];
    const [before, behind] = [of.beside(i, -1), of.beside(i, 1)];
    const at = lowerBound(rows, before < 0 ? 0 : calls.call[before] + 1);
    return at < rows.length && (behind < 0 || rows[at] < calls.call[behind]);
}
