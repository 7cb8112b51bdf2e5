// The middle of numbers.

/* The lower of the two in the middle; null of none. What is no number is left out. O(n log n). */
export function medianOf(values: ArrayLike<number>): number | null {
    const sorted = Float64Array.from(values)
        .filter((x) => !Number.isNaN(x))
        .sort();
    return sorted[(sorted.length - 1) >> 1] ?? null;
}
