// The distance of two calls in time: between the end of the one that began first and the begin of the other, or how long
// both were there.
import { Span } from "./window";

export interface Distance {
    isGap: boolean; /* else both are there for a time */
    isSwapped: boolean; /* the second began first */
    span: Span; /* the gap, or the time they share; it may be without length */
    ns: number; /* of the span */
    begins_ns: number; /* from the begin of the first to that of the second; < 0: the second began earlier */
    ends_ns: number;
}

export function distanceOf(first: Span, second: Span): Distance {
    const isSwapped = second[0] < first[0];
    const [before, after] = isSwapped ? [second, first] : [first, second];
    const isGap = after[0] >= before[1];
    const span: Span = isGap
        ? [before[1], after[0]]
        : [after[0], Math.min(before[1], after[1])];
    return {
        isGap,
        isSwapped,
        span,
        ns: span[1] - span[0],
        begins_ns: second[0] - first[0],
        ends_ns: second[1] - first[1],
    };
}
