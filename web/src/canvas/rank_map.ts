// All ranks over time as pixels: rows in an order, and where there are more of them than pixels, of each pixel the
// darkest of its rows, so that one of ten thousand is seen.
import { Rgb } from "../format/palette";
import { NotKnown } from "../format/cost_words";

export interface RankMap {
    width: number; /* stretches of time */
    begin_ns: number;
    end_ns: number;
    highest_ns: number; /* in a cell */
    shade: Uint8Array; /* [locations * width] root of the share of the highest, 0..255 */
    total_ns: Float64Array; /* [locations] */
    n_bounds?: number; /* of cost: executions that cost at most what is in the cells ... */
    not_known?: NotKnown; /* ... and those that are in none */
}

/* What a cell holds, about. */
export function cellNs(map: RankMap, location: number, column: number): number {
    const shade = map.shade[location * map.width + column] / 255;
    return shade * shade * map.highest_ns;
}

/* Those that lost most first, or as they are. */
export function orderRows(
    rows: number[],
    total: ArrayLike<number>,
    isByMost: boolean,
): number[] {
    return isByMost ? [...rows].sort((a, b) => total[b] - total[a] || a - b) : rows;
}

/* How many rows of pixels there are for so many ranks where there is room for `most`. */
export function pixelRows(n: number, most: number): number {
    return Math.max(1, Math.min(n, Math.floor(most)));
}

/* Which of n rows a row of pixels stands for: from, and until before. */
export function rowsOfPixel(y: number, pixels: number, n: number): [number, number] {
    return [Math.floor((y * n) / pixels), Math.floor(((y + 1) * n) / pixels)];
}

/* How opaque a shade is: a little is hardly seen, on light and on dark. */
export function opacity(shade: number): number {
    return shade > 0 ? 0.06 + (0.94 * shade) / 255 : 0;
}

/* pixels x map.width, each red, green, blue and alpha. */
export function mapPixels(
    map: RankMap,
    rows: number[],
    pixels: number,
    colour: Rgb,
): Uint8ClampedArray {
    const { width, shade } = map;
    const out = new Uint32Array(pixels * width);
    const colours = new Uint32Array(
        Uint8Array.from(
            Array.from({ length: 256 }, (_, x) => [
                ...colour,
                Math.round(255 * opacity(x)),
            ]).flat(),
        ).buffer,
    );
    const darkest = new Uint8Array(width);
    for (let y = 0; y < pixels; y++) {
        const [from, until] = rowsOfPixel(y, pixels, rows.length);
        darkest.fill(0);
        for (let k = from; k < until; k++) {
            const at = rows[k] * width;
            for (let x = 0; x < width; x++)
                if (shade[at + x] > darkest[x]) darkest[x] = shade[at + x];
        }
        for (let x = 0; x < width; x++) out[y * width + x] = colours[darkest[x]];
    }
    return new Uint8ClampedArray(out.buffer);
}

/* Of rows that lie in an area of the picture, those that hold most there, in their order. */
export function mostOf(
    map: RankMap,
    rows: number[],
    [from, until]: [number, number],
    most: number,
): number[] {
    const sum = (location: number) => {
        let all = 0;
        for (let x = from; x < until; x++) all += cellNs(map, location, x);
        return all;
    };
    if (rows.length <= most) return rows;
    const kept = new Set(
        rows
            .map((row) => ({ row, sum: sum(row) }))
            .sort((a, b) => b.sum - a.sum || a.row - b.row)
            .slice(0, most)
            .map(({ row }) => row),
    );
    return rows.filter((row) => kept.has(row));
}
