// Where a series of runs lies in a picture: a point per run, a line per stretch between changes.
import { TrendSeries } from "../api/compare_types";

export interface Stretch {
    from: number /* index of its first run */;
    to: number /* of its last one */;
    mean_ns: number;
    change: number | null /* against the stretch before, as a fraction; null: the first */;
}

/* Stretches between the points where the series changed. */
export function stretchesOf(series: TrendSeries): Stretch[] {
    const { ns, changes } = series;
    const starts = [0, ...changes.map((change) => change.index)];
    const stretches = starts.map((from, i): Stretch => {
        const to = (starts[i + 1] ?? ns.length) - 1;
        const part = ns.slice(from, to + 1);
        const mean_ns = part.reduce((sum, x) => sum + x, 0) / part.length;
        return { from, to, mean_ns, change: null };
    });
    stretches.forEach((stretch, i) => {
        const before = stretches[i - 1]?.mean_ns;
        if (i > 0) stretch.change = before > 0 ? stretch.mean_ns / before - 1 : Infinity;
    });
    return stretches;
}

/* What an axis of these values spans: a little more than they do, from nothing where that is near. */
export function spanOf(values: number[]): [number, number] {
    const low = Math.min(...values);
    const high = Math.max(...values);
    const room = (high - low || high || 1) * 0.12;
    const from = low - room;
    return [from < high * 0.15 ? 0 : from, high + room];
}

/* Labels that would lie on each other leave some out: every second is drawn, or every third, ... */
export function labelStep(n: number, width: number, labelWidth: number): number {
    const step = Math.ceil((n * labelWidth) / Math.max(width, 1));
    return Math.max(1, [1, 2, 5, 10, 20, 50, 100, 200, 500].find((s) => s >= step) ?? step);
}
