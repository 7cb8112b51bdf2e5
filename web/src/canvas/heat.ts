// A heat map: one row per rank, one column per stretch of time.
import { scaleColour } from "../format/colour";
import { Rgb } from "../format/palette";

export interface Heat {
    rows: number;
    width: number;
    value: Float64Array; /* [rows * width] row by row */
}

/* As a picture of width x rows pixels; nothing is transparent. Steps of the colour are those of
 * the square root, so that few are seen beside many. full: what has the last colour; without, the highest has. */
export function heatPixels(
    { value }: Heat,
    colour: (x: number) => Rgb = scaleColour,
    full?: number,
): { rgba: Uint8ClampedArray; highest: number } {
    const rgba = new Uint8ClampedArray(4 * value.length);
    const highest = full ?? value.reduce((a, b) => Math.max(a, b), 0);
    for (let i = 0; i < value.length; i++) {
        if (value[i] <= 0) continue;
        const [r, g, b] = colour(Math.sqrt(value[i] / highest));
        rgba.set([r, g, b, 255], 4 * i);
    }
    return { rgba, highest };
}

/* At most so many rows: those that share one have the highest of them, so that one among many is seen.
   per: rows of the first in each of the last. */
export function fewerRows(heat: Heat, most: number): Heat & { per: number } {
    const per = Math.max(1, Math.ceil(heat.rows / most));
    const rows = Math.ceil(heat.rows / per);
    const value = new Float64Array(rows * heat.width);
    for (let y = 0; y < heat.rows; y++)
        for (let x = 0; x < heat.width; x++) {
            const at = Math.floor(y / per) * heat.width + x;
            value[at] = Math.max(value[at], heat.value[y * heat.width + x]);
        }
    return { rows, width: heat.width, value, per };
}

/* Which of the rows that share a cell it has its value from. */
export function rowOf(heat: Heat, per: number, { row, column }: Cell): number {
    let best = row * per;
    for (let y = best; y < Math.min(heat.rows, (row + 1) * per); y++)
        if (heat.value[y * heat.width + column] > heat.value[best * heat.width + column])
            best = y;
    return best;
}

export interface Cell {
    row: number;
    column: number;
}

/* At a place in cells from the upper left corner; the nearest one of a place outside. */
export function cellAt(rows: number, columns: number, x: number, y: number): Cell {
    const inside = (at: number, n: number) => Math.min(Math.max(Math.floor(at), 0), n - 1);
    return { row: inside(y, rows), column: inside(x, columns) };
}

/* Where keys lead from a cell: by rows and columns, as far as there are some. */
export const cellSteps: Record<string, [rows: number, columns: number]> = {
    ArrowUp: [-1, 0],
    ArrowDown: [1, 0],
    ArrowLeft: [0, -1],
    ArrowRight: [0, 1],
    PageUp: [-10, 0],
    PageDown: [10, 0],
    Home: [0, -1e9],
    End: [0, 1e9],
};

/* The stretch of time between two places from the left, in whole columns. */
export function spanOfDrag(
    heat: { width: number; begin_ns: number; bin_ns: number },
    x0: number,
    x1: number,
): [number, number] {
    const inside = (x: number) => Math.min(Math.max(x, 0), heat.width);
    const first = Math.min(Math.floor(inside(Math.min(x0, x1))), heat.width - 1);
    const last = Math.max(Math.ceil(inside(Math.max(x0, x1))), first + 1);
    return [heat.begin_ns + first * heat.bin_ns, heat.begin_ns + last * heat.bin_ns];
}
