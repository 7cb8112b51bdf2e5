// What a counter over time says, in words and short numbers.
import { formatValue } from "./units";

const steps: [number, string][] = [
    [1e12, "T"],
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
];

/* 1.23 G; three digits, for where there is no room for all. */
export function shortNumber(x: number): string {
    for (const [scale, letter] of steps)
        if (Math.abs(x) >= scale * 0.9995)
            return `${Number((x / scale).toPrecision(3))} ${letter}`;
    return String(Number(x.toPrecision(3)));
}

const mostName = 36; /* characters: names of sensors say most at their ends */

/* "A2rocm_smi:::curr…cket_power:device=0" */
export function shortName(name: string): string {
    if (name.length <= mostName) return name;
    const half = Math.floor((mostName - 1) / 2);
    return `${name.slice(0, half)}…${name.slice(-half)}`;
}

interface Told {
    name: string;
    unit: string;
    isRate: boolean;
}

/* "per second", "W", "B per second"; "" where neither is known. Score-P writes "#" for what has no unit. */
export function unitWords({ unit, isRate }: Told): string {
    const of = unit === "#" ? "" : unit;
    return isRate ? `${of} per second`.trim() : of;
}

/* "PAPI_TOT_CYC, per second" */
export function counterWords(of: Told): string {
    const unit = unitWords(of);
    return unit ? `${of.name}, ${unit}` : of.name;
}

/* "2.5 W", or "2 to 3 W, mean 2.5 W" */
export function pieceWords(of: Told, least: number, greatest: number, mean: number): string {
    const unit = unitWords(of);
    const say = (text: string) => (unit ? `${text} ${unit}` : text);
    if (least === greatest) return say(formatValue(mean));
    return `${formatValue(least)} to ${say(formatValue(greatest))}, mean ${formatValue(mean)}`;
}

interface Drawn {
    track: Told;
    scale: { low: number; high: number };
}

/* "0 to 2.95 G per second" */
export function rangeWords({ track, scale }: Drawn): string {
    return `${shortNumber(scale.low)} to ${shortNumber(scale.high)} ${unitWords(track)}`.trim();
}

/* Of a picture, and for those who do not see it. */
export function counterNote(drawn: Drawn): string {
    return `Below the lanes: ${counterWords(drawn.track)}; line: mean, band: least to greatest, scale: ${rangeWords(drawn)}.`;
}
