// What is looked at on the page of runs that are compared, and on that of a history. In the URL; the
// numbers come from the server and go to the views as what they are given.
import { signal } from "@preact/signals";

export const widths = ["both", "before", "after"] as const;
export type Widths = (typeof widths)[number];

export const pathChosen = signal<string | null>(null); /* a call path, "a > b" */
export const zoomedPath = signal<string | null>(null); /* what the icicle is filled with */
export const kindShown = signal<string | null>(null); /* of execution; null: all */
export const widthsShown = signal<Widths>("both");
export const pathOrder = signal({ key: "change_ns", isDown: true });
export const isSureOnly = signal(true); /* of paths: those that surely changed */

// Of a history
export const functionChosen = signal<string | null>(
    null,
); /* null: the only one, or the first */
export const seriesShown = signal<string | null>(null); /* a call path; null: the whole */
export const runShown = signal<number | null>(null); /* against those before it */
export const lastRuns = signal(10); /* so many of them */

export const listedPaths = signal<string[]>([]); /* as the table has them now, for J and K */

/* The path after the one chosen, or before it. */
export function stepPath(by: 1 | -1): void {
    const paths = listedPaths.peek();
    if (!paths.length) return;
    const at = paths.indexOf(pathChosen.value ?? "");
    const next = at < 0 ? (by > 0 ? 0 : paths.length - 1) : at + by;
    if (paths[next] !== undefined) pathChosen.value = paths[next];
}

export function turnWidths(): void {
    widthsShown.value = widths[(widths.indexOf(widthsShown.value) + 1) % widths.length];
}

export function choosePath(path: string): void {
    pathChosen.value = pathChosen.value === path ? null : path;
}
