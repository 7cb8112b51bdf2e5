// Where the bars of the small drawing of an execution lie, in shares of its width.
import { SketchBar } from "../api/types";

interface Box {
    x: number;
    width: number;
    depth: number;
    excess: number;
    region: number;
}

const leastWidth = 0.015;

/* Places the bars, which come in preorder: each begins where its elder sibling ends. */
export function placeBars(bars: SketchBar[]): Box[] {
    const next: number[] = []; /* per depth: where the next bar begins */
    return bars.map(([depth, share, region, excess]) => {
        const x = Math.min(
            next[depth] ?? 0,
            1 - leastWidth,
        ); /* widened bars may add up to more */
        const width = Math.max(share, leastWidth);
        next[depth] = x + width;
        next[depth + 1] = x;
        return { x, width, depth, excess, region };
    });
}
