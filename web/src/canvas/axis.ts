// From values to 0..1 on an axis: linear, or logarithmic where a few values are far larger than
// most (durations are). Points are kept in 0..1 so that 32 bits are enough on the GPU.
import { scaleLinear, scaleLog } from "d3-scale";

export interface Axis {
    isLog: boolean;
    min: number;
    max: number;
    ticks: (low: number, high: number, n: number) => { at: number; value: number }[];
}

const farLarger = 50;

function medianOf(values: ArrayLike<number>): number {
    const step = Math.max(1, Math.floor(values.length / 2000));
    const some: number[] = [];
    for (let i = 0; i < values.length; i += step) some.push(values[i]);
    some.sort((a, b) => a - b);
    return some[some.length >> 1] ?? 0;
}

export function makeAxis(values: ArrayLike<number>, mayBeLog: boolean): Axis {
    let min = Infinity;
    let max = -Infinity;
    for (let i = 0; i < values.length; i++) {
        const v = values[i];
        if (v < min) min = v;
        if (v > max) max = v;
    }
    if (!(min < max)) {
        min = Number.isFinite(min) ? min - 0.5 : 0;
        max = min + 1;
    }
    const isLog = mayBeLog && min > 0 && max / medianOf(values) > farLarger;
    const scale = (isLog ? scaleLog() : scaleLinear()).domain([min, max]).range([0, 1]);
    const ticks = (low: number, high: number, n: number) => {
        const part = scale.copy().domain([scale.invert(low), scale.invert(high)]);
        const values = part.ticks(n);
        // A logarithmic axis names every 1..9: too much where it spans decades.
        const few =
            isLog && values.length > n
                ? values.filter((v) => /^1(\.0*)?e/.test(v.toExponential()))
                : values;
        return few.map((value) => ({ at: scale(value), value }));
    };
    return { isLog, min, max, ticks };
}

/* 0..1 of all values, leaving out a margin at both ends. */
export function spreadOut(values: ArrayLike<number>, axis: Axis, margin = 0.04): Float32Array {
    const out = new Float32Array(values.length);
    if (axis.isLog) {
        const low = Math.log(axis.min);
        const factor = (1 - 2 * margin) / (Math.log(axis.max) - low);
        for (let i = 0; i < out.length; i++)
            out[i] = margin + factor * (Math.log(values[i]) - low);
    } else {
        const factor = (1 - 2 * margin) / (axis.max - axis.min);
        for (let i = 0; i < out.length; i++) out[i] = margin + factor * (values[i] - axis.min);
    }
    return out;
}
