// A heat map: one row per rank, one column per stretch of time.
import { Rgb, scaleColour } from "../format/colour";

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

/* The cell at a place of a canvas, 0..1 each; null outside. */
export function cellAt(
    heat: Heat,
    x: number,
    y: number,
): { row: number; column: number } | null {
    if (!(x >= 0 && x < 1 && y >= 0 && y < 1) || !heat.rows || !heat.width) return null;
    return { row: Math.floor(y * heat.rows), column: Math.floor(x * heat.width) };
}

/* The stretch of time between two places of the canvas, in whole columns. */
export function spanOfDrag(
    heat: { width: number; begin_ns: number; bin_ns: number },
    x0: number,
    x1: number,
): [number, number] {
    const inside = (x: number) => Math.min(Math.max(x, 0), 1) * heat.width;
    const first = Math.min(Math.floor(inside(Math.min(x0, x1))), heat.width - 1);
    const last = Math.max(Math.ceil(inside(Math.max(x0, x1))), first + 1);
    return [heat.begin_ns + first * heat.bin_ns, heat.begin_ns + last * heat.bin_ns];
}
