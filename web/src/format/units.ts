// Numbers for people: three digits that matter, and always a unit.

const timeUnits: [number, string][] = [
    [1e9, "s"],
    [1e6, "ms"],
    [1e3, "us"],
];

function threeDigits(x: number): string {
    const size = Math.abs(x);
    return x.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

/* 38.1 ms; as snag prints it in a terminal. */
export function formatTime(ns: number): string {
    for (const [scale, unit] of timeUnits)
        if (Math.abs(ns) >= scale * 0.9995) return `${threeDigits(ns / scale)} ${unit}`;
    return `${Math.round(ns)} ns`;
}

export function formatExcess(ns: number): string {
    return (ns > 0 ? "+" : ns < 0 ? "−" : "") + formatTime(Math.abs(ns));
}

/* "12 times the typical"; of what differs little, by how much: an anomaly is never "typical". */
export function againstTypical(now: number, typical: number): string {
    const factor = now / typical;
    if (factor >= 0.95 && factor < 1.05) return formatExcess(now - typical);
    return `${factor >= 9.5 ? formatCount(factor) : factor.toFixed(1)} times as long`;
}

/* A moment, with as many digits as make two that are `step_ns` apart differ. */
export function formatMoment(ns: number, stepNs: number): string {
    const [scale, unit] =
        Math.abs(ns) >= 1e9 ? [1e9, "s"] : Math.abs(ns) >= 1e6 ? [1e6, "ms"] : [1e3, "us"];
    const digits = Math.max(
        0,
        Math.min(9, Math.ceil(-Math.log10(Math.max(stepNs, 1) / scale))),
    );
    return `${(ns / scale).toFixed(digits)} ${unit}`;
}

/* To the nanosecond: "26.319442 ms". */
export function formatExactly(ns: number): string {
    return Math.abs(ns) < 1e3 ? `${Math.round(ns)} ns` : formatMoment(ns, 1);
}

export function formatCount(n: number): string {
    return Math.round(n).toLocaleString("en-US");
}

/* Counts that are means: 2.7, but 14. */
export function formatMean(n: number): string {
    return n >= 99.5 || Number.isInteger(n)
        ? formatCount(n)
        : n >= 0.05 || n === 0
          ? n.toFixed(1)
          : "< 0.1";
}

/* A value that may not be known. */
export function ifKnown<Value>(
    value: Value | null | undefined,
    format: (value: Value) => string,
): string {
    return value === null || value === undefined ? "not known" : format(value);
}

/* What a counter reads: it has no unit that is known, and may be anything. */
export function formatValue(x: number): string {
    if (!Number.isFinite(x)) return "-";
    if (Number.isInteger(x) || Math.abs(x) >= 1e5) return formatCount(x);
    return String(Number(x.toPrecision(4)));
}

/* Two digits, or as many more as it takes to see one: those of a one-class SVM are often small. */
export function formatScore(score: number): string {
    if (!Number.isFinite(score)) return "-";
    const size = Math.abs(score);
    if (size < 1e-6) return "0.00";
    return score.toFixed(size < 5e-3 ? Math.ceil(-Math.log10(size)) : 2);
}

export function plural(n: number, one: string, many = `${one}s`): string {
    return `${formatCount(n)} ${n === 1 ? one : many}`;
}

const byteUnits = ["B", "KiB", "MiB", "GiB", "TiB"];

export function formatBytes(n: number): string {
    let unit = 0;
    for (; n >= 1023.5 && unit + 1 < byteUnits.length; unit++) n /= 1024;
    return `${unit ? threeDigits(n) : Math.round(n)} ${byteUnits[unit]}`;
}

export function formatShare(share: number): string {
    return `${(share * 100).toFixed(share < 0.095 ? 1 : 0)} %`;
}

/* With a capital and a full stop: what the program says begins small and has none. */
export function sentence(text: string): string {
    return text.charAt(0).toUpperCase() + text.slice(1).replace(/\.?$/, ".");
}
