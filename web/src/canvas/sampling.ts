// Which executions are drawn, and in which order: anomalies, labelled and chosen ones always, the
// others by a share that depends on their number only, so that moving the slider adds or removes
// points but never exchanges them.

export interface Sampled {
    order: Uint32Array; /* trees to draw: the normal ones first, so that anomalies lie on top */
    firstKept: number; /* where in `order` those begin that always stay */
    hidden: number;
}

const bits = 6; /* normal ones are mixed this finely */

/* Of 32 bits, the same for the same number (Knuth's multiplicative hash). */
function hash(tree: number): number {
    return Math.imul(tree + 1, 2654435761) >>> 0;
}

/* The normal ones are mixed: the first of them, however many, are spread over all. */
export function sample(
    verdict: ArrayLike<number>,
    label: ArrayLike<number>,
    percent: number,
    chosen: ReadonlySet<number>,
    isIn: ((tree: number) => boolean) | null = null /* others are not drawn at all */,
): Sampled {
    const n = verdict.length;
    const limit = (percent / 100) * 2 ** 32;
    const start = new Uint32Array(2 ** bits + 1);
    const stays = (tree: number) =>
        verdict[tree] !== 0 || label[tree] !== 0 || (chosen.size > 0 && chosen.has(tree));
    for (let tree = 0; tree < n; tree++) {
        const h = hash(tree);
        if (h < limit && !stays(tree) && (!isIn || isIn(tree)))
            start[(h >>> (32 - bits)) + 1]++;
    }
    for (let b = 0; b < 2 ** bits; b++) start[b + 1] += start[b];
    const firstKept = start[2 ** bits];
    const order = new Uint32Array(n);
    let used = firstKept;
    for (let tree = 0; tree < n; tree++) {
        const h = hash(tree);
        if (isIn && !isIn(tree)) continue;
        if (stays(tree)) order[used++] = tree;
        else if (h < limit) order[start[h >>> (32 - bits)]++] = tree;
    }
    return { order: order.subarray(0, used), firstKept, hidden: n - used };
}
