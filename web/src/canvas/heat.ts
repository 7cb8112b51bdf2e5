// A heat map: one row per rank, one column per stretch of time.
import { scaleColour } from "../format/colour";
import { Rgb } from "../format/palette";

export interface Heat {
    rows: number;
    width: number;
    value: Float64Array; /* [rows * width] row by row */
}

/* As a picture of width x rows pixels; nothing is transparent. Steps of the colour are those of
 * the square root, so that few are seen beside many. */
export function heatPixels(
    { value }: Heat,
    colour: (x: number) => Rgb = scaleColour,
): { rgba: Uint8ClampedArray; highest: number } {
    const rgba = new Uint8ClampedArray(4 * value.length);
    let highest = 0;
    for (const v of value) highest = Math.max(highest, v);
    for (let i = 0; i < value.length; i++) {
        if (value[i] <= 0) continue;
        const [r, g, b] = colour(Math.sqrt(value[i] / highest));
        rgba.set([r, g, b, 255], 4 * i);
    }
    return { rgba, highest };
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
