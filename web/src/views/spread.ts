/* At most `most` of a list, evenly spread, the first and the last among them. */
export function spread(list: ArrayLike<number>, most: number): number[] {
    const n = Math.min(list.length, most);
    return Array.from(
        { length: n },
        (_, k) => list[n < 2 ? 0 : Math.round((k * (list.length - 1)) / (n - 1))],
    );
}
