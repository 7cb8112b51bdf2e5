// What is marked in every view: a call path, or calls of the selected execution (those of a subtree).
// Only one of the two at a time.
import { computed } from "@preact/signals";
import { mark, markedCalls, markedCallPaths } from "./store";

export function samePath(a: readonly string[] | null, b: readonly string[]): boolean {
    return a !== null && a.length === b.length && a.every((name, i) => name === b[i]);
}

/* Marking what is marked already takes the mark away. */
export function togglePath(path: string[]): void {
    mark.value = samePath(mark.value, path) ? null : path;
    markedCalls.value = null;
}

export function areMarked(calls: ArrayLike<number>): boolean {
    const now = markedCalls.value;
    return now !== null && now.length === calls.length && now.every((v, i) => v === calls[i]);
}

/* Calls by their place in the preorder of the execution, ascending. */
export function toggleCalls(calls: number[]): void {
    markedCalls.value = areMarked(calls) ? null : Uint32Array.from(calls);
    mark.value = null;
}

export function clearMarks(): void {
    mark.value = null;
    markedCalls.value = null;
}

/* The call paths that are marked, from the root of the execution. */
export const markedPaths = computed<string[][]>(() =>
    mark.value ? [mark.value] : markedCalls.value ? (markedCallPaths.value ?? []) : [],
);

export function isPathMarked(path: string[]): boolean {
    return markedPaths.value.some((marked) => samePath(marked, path));
}
