// Colours of functions, stable: they depend on the name only, not on the run or the order. And scales.
import { cividis, hots, hues, Rgb, shades } from "./palette";

/* FNV-1a */
export function hashName(name: string): number {
    let h = 0x811c9dc5;
    for (let i = 0; i < name.length; i++) h = Math.imul(h ^ name.charCodeAt(i), 0x01000193);
    return h >>> 0;
}

function shaded(colour: Rgb, shade: number): Rgb {
    const target = shade > 0 ? 255 : 0;
    return colour.map((c) => Math.round(c + (target - c) * Math.abs(shade))) as Rgb;
}

export function regionColour(name: string): Rgb {
    const h = hashName(name);
    return shaded(hues[h % hues.length], shades[(h >>> 8) % shades.length]);
}

/* Stable for small numbers such as ranks: neighbours differ. */
export function numberColour(n: number): Rgb {
    return shaded(hues[n % hues.length], shades[Math.floor(n / hues.length) % shades.length]);
}

export function css([r, g, b]: Rgb): string {
    return `rgb(${r},${g},${b})`;
}

export function luminance([r, g, b]: Rgb): number {
    const linear = (c: number) =>
        c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4;
    return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}

/* Black or white, whichever is read better on it (WCAG relative luminance). */
export function inkOn(colour: Rgb): string {
    return luminance(colour) > 0.179 ? "#000" : "#fff";
}

/* From one colour (0) to another (1). */
export function mixed(from: Rgb, to: Rgb, part: number): Rgb {
    return from.map((c, k) => Math.round(c + (to[k] - c) * part)) as Rgb;
}

/* From dark blue (0) to yellow (1). */
export function scaleColour(x: number): Rgb {
    const at = Math.min(Math.max(x, 0), 1) * (cividis.length - 1);
    const i = Math.min(Math.floor(at), cividis.length - 2);
    return mixed(cividis[i], cividis[i + 1], at - i);
}

/* Of how many there are: the more, the further from what it is drawn on. */
export function countColour(x: number, isDark = false): Rgb {
    return scaleColour(isDark ? x : 1 - x);
}

/* Of what is strange: from near to what it is drawn on (0) to vermilion (1). */
export function hotColour(x: number, isDark = false): Rgb {
    const at = Math.min(Math.max(x, 0), 1);
    const [least, most] = isDark ? hots.dark : hots.light;
    return mixed(least, most, at);
}
