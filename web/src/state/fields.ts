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

/* What a person unfolded (true) or folded, by number: "3,7x". */
export function folds(key: string, of: Signal<Record<number, boolean>>): Field {
    return {
        key,
        print: () =>
            Object.entries(of.value)
                .map(([id, isOpen]) => (isOpen ? id : `${id}x`))
                .join(",") || null,
        read: (text) => {
            const found = [...(text ?? "").matchAll(/(?:^|,)(\d{1,7})(x?)(?=,|$)/g)];
            of.value = Object.fromEntries(found.map(([, id, x]) => [id, !x]));
        },
    };
}

/* A call: LOCATION.ROW */
export function callOf(
    key: string,
    of: Signal<{ location: number; call: number } | null>,
): Field {
    return {
        key,
        print: () => of.value && `${of.value.location}.${of.value.call}`,
        read: (text) => {
            const [, location, call] = /^(\d{1,7})\.(\d{1,10})$/.exec(text ?? "") ?? [];
            of.value = location ? { location: Number(location), call: Number(call) } : null;
        },
    };
}
