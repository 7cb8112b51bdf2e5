// The histogram of a model: durations on a logarithmic axis, in columns.
import { scaleLog } from "d3-scale";
import { formatTime } from "../format/units";

const endless = 1e18; /* ns: a bound beyond it is none */
const mostRanges = 4; /* that are said */

interface Durations {
    minimum_ns: number;
    maximum_ns: number;
    usual_ns: [number, number][];
    bins: [number, number, number][]; /* from, to, how many */
}

/* Those that overlap are one. */
export function unionOf(usual: [number, number][]): [number, number][] {
    const all = [...usual].sort((a, b) => a[0] - b[0]);
    const union: [number, number][] = [];
    for (const [least, most] of all) {
        const last = union[union.length - 1];
        if (last && least <= last[1]) last[1] = Math.max(last[1], most);
        else union.push([least, most]);
    }
    return union;
}

interface LogScale {
    place: (ns: number) => number; /* 0..1; what lies outside is at its end */
    ticks: (n: number) => number[];
}

/* All durations, all bounds that there are, and what else has to be seen. */
export function logScale(of: Durations, also: number[] = []): LogScale {
    const bounds = of.usual_ns.flat().filter((ns) => ns < endless);
    const low = Math.max(1, Math.min(of.minimum_ns, ...bounds, ...also));
    const high = Math.max(of.maximum_ns, low * 1.01, ...bounds, ...also);
    const scale = scaleLog().domain([low, high]);
    return {
        place: (ns) => Math.min(Math.max(scale(Math.max(ns, 1)), 0), 1),
        ticks: (n) => {
            const all = scale.ticks(n);
            const decades = all.filter((ns) => /^1e/.test(ns.toExponential()));
            if (decades.length >= 2 && all.length > n) return thinned(decades, n);
            return thinned(all, n);
        },
    };
}

function thinned(list: number[], n: number): number[] {
    const step = Math.ceil(list.length / n);
    return list.filter((_, i) => i % step === 0);
}

/* A bin counts where its middle is. */
export function columnsOf(of: Durations, { place }: LogScale, n: number): number[] {
    const counts = new Array<number>(n).fill(0);
    for (const [begin, end, count] of of.bins)
        counts[Math.min(Math.floor(place((begin + end) / 2) * n), n - 1)] += count;
    return counts;
}

export function usualText(usual: [number, number][]): string {
    const said = usual
        .slice(0, mostRanges)
        .map(([least, most]) =>
            most < endless
                ? `${formatTime(least)} to ${formatTime(most)}`
                : `from ${formatTime(least)}`,
        )
        .join(", ");
    return usual.length > mostRanges ? `${said} and ${usual.length - mostRanges} more` : said;
}
