// Arithmetic of the window of the timeline: [begin, end) in nanoseconds since the start.

export type Span = [number, number];

const leastSpan = 20; /* ns: below it, digits of a double are still exact, but there is nothing to see */

export function clampSpan([begin, end]: Span, whole: Span): Span {
    const span = Math.min(Math.max(end - begin, leastSpan), whole[1] - whole[0]);
    const middle = (begin + end) / 2;
    const from = Math.min(Math.max(middle - span / 2, whole[0]), whole[1] - span);
    return [from, from + span];
}

/* factor > 1 zooms in; what is at `at` stays where it is. */
export function zoomSpan([begin, end]: Span, factor: number, at: number, whole: Span): Span {
    const span = Math.min(Math.max((end - begin) / factor, leastSpan), whole[1] - whole[0]);
    const share = (at - begin) / (end - begin);
    return clampSpan([at - share * span, at + (1 - share) * span], whole);
}

export function panSpan([begin, end]: Span, share: number, whole: Span): Span {
    const by = (end - begin) * share;
    return clampSpan([begin + by, end + by], whole);
}

/* What is fetched for a window: more than is seen and on a coarse grid, so that panning a little
   asks for nothing and the same question is asked again. */
export function fetchSpan([begin, end]: Span, whole: Span): Span {
    const grid = 2 ** Math.floor(Math.log2(Math.max(end - begin, 2))) / 2;
    return [
        Math.max(whole[0], Math.floor((begin - grid) / grid) * grid),
        Math.min(whole[1], Math.ceil((end + grid) / grid) * grid),
    ];
}
