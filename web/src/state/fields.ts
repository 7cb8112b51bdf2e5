// Kinds of what a link restores.
import { Signal } from "@preact/signals";
import { Field } from "./url";

export function oneOf<T extends string>(
    key: string,
    of: Signal<T>,
    allowed: readonly T[],
): Field {
    const first = of.value;
    return {
        key,
        print: () => (of.value === first ? null : of.value),
        read: (text) => (of.value = allowed.includes(text as T) ? (text as T) : first),
    };
}

export function number(
    key: string,
    of: Signal<number | null>,
    least: number,
    most: number,
): Field {
    const first = of.value;
    return {
        key,
        print: () => (of.value === first || of.value === null ? null : String(of.value)),
        read: (text) => {
            const x = text === null || text === "" ? NaN : Number(text);
            of.value = x >= least && x <= most ? x : first;
        },
    };
}

export function numbers(text: string | null): number[] | null {
    if (!text) return null;
    const list = text.split(",").map(Number);
    return list.every((x) => Number.isFinite(x) && x >= 0) ? list : null;
}

/* From before to. */
export function span(key: string, of: Signal<[number, number] | null>): Field {
    return {
        key,
        print: () => of.value?.map((ns) => Math.round(ns)).join(",") ?? null,
        read: (text) => {
            const pair = numbers(text);
            of.value = pair?.length === 2 && pair[1] > pair[0] ? [pair[0], pair[1]] : null;
        },
    };
}
