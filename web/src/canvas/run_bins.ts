// The whole run in bins of time: how many executions run at a time, and where anomalies begin.
import { Span } from "./window";

interface Times {
    n: number;
    enter_ns: ArrayLike<number>;
    duration_ns: ArrayLike<number>;
    verdict: ArrayLike<number>; /* 1: anomaly */
}

export interface Bins {
    many: Float64Array; /* executions that run in it: how many at a time, on average */
    strange: Uint32Array; /* anomalies that begin in it */
}

export function binsOf(all: Times, whole: Span, n: number): Bins {
    const strange = new Uint32Array(n);
    const perNs = n / (whole[1] - whole[0]);
    const within = (at: number) => Math.min(n, Math.max(0, at));
    // How much each bin has more than the one before: all executions are gone through once, however long.
    const change = new Float64Array(n + 2);
    const turns = (at: number, by: number) => {
        const bin = Math.floor(at);
        change[bin] += by * (bin + 1 - at);
        change[bin + 1] += by * (at - bin);
    };
    for (let i = 0; i < all.n; i++) {
        const begin = within((all.enter_ns[i] - whole[0]) * perNs);
        turns(begin, 1);
        turns(within((all.enter_ns[i] + all.duration_ns[i] - whole[0]) * perNs), -1);
        if (all.verdict[i]) strange[Math.min(n - 1, Math.floor(begin))]++;
    }
    let now = 0;
    const many = Float64Array.from({ length: n }, (_, bin) => (now += change[bin]));
    return { many, strange };
}
