// The state of the page as the part of the URL behind '#', and back. What is as it is at first is
// left out, so that links stay short. A token stays where it is, before the '#'.

/* Rows of trees as ranges in base 36: 3,4,5,9 -> "3+2.9". */
export function packTrees(trees: ArrayLike<number>): string {
    const sorted = Array.from(trees).sort((a, b) => a - b);
    const ranges: string[] = [];
    for (let i = 0; i < sorted.length;) {
        let end = i;
        while (end + 1 < sorted.length && sorted[end + 1] === sorted[end] + 1) end++;
        ranges.push(sorted[i].toString(36) + (end > i ? "+" + (end - i).toString(36) : ""));
        i = end + 1;
    }
    return ranges.join(".");
}

/* Null unless it is what packTrees makes, with trees below `n`. */
export function unpackTrees(text: string, n: number): Uint32Array | null {
    const trees: number[] = [];
    for (const range of text.split(".")) {
        const match = /^([0-9a-z]{1,7})(?:\+([0-9a-z]{1,7}))?$/.exec(range);
        if (!match) return null;
        const first = parseInt(match[1], 36);
        const more = match[2] ? parseInt(match[2], 36) : 0;
        if (first + more >= n) return null;
        for (let i = first; i <= first + more; i++) trees.push(i);
    }
    return Uint32Array.from(trees);
}

/* How a value is written. */
export interface Type<T> {
    print: (value: T) => string | null; /* null: it is not written */
    parse: (text: string) => T | null; /* null: no such value */
}

/* A parameter of the link: its name, what has its value, how that is written, and what it is without. */
export interface Field {
    key: string;
    print: () => string | null; /* null: left out */
    read: (text: string | null) => void; /* null: not in the URL */
}

export function field<T>(
    key: string,
    of: { value: T },
    type: Type<NonNullable<T>>,
    first = (
        (value) => () =>
            value
    )(of.value),
): Field {
    const print = (value: T) => (value === null ? null : type.print(value as NonNullable<T>));
    return {
        key,
        print: () => {
            const text = print(of.value);
            return text === print(first()) ? null : text;
        },
        read: (text) => (of.value = (text === null ? null : type.parse(text)) ?? first()),
    };
}

export const text: Type<string> = { print: (value) => value, parse: (said) => said };

export function matching(pattern: RegExp): Type<string> {
    return { ...text, parse: (said) => (pattern.test(said) ? said : null) };
}

export function oneOf<T extends string>(allowed: readonly T[]): Type<T> {
    return {
        print: (value) => value,
        parse: (said) => allowed.find((one) => one === said) ?? null,
    };
}

/* What is one way at first, and written when it is the other way. */
export function flag(other: boolean, written: string): Type<boolean> {
    return {
        print: (value) => (value === other ? written : ""),
        parse: (said) => (said === written ? other : null),
    };
}

export function number(least: number, most: number): Type<number> {
    return {
        print: String,
        parse: (said) => {
            const x = said === "" ? NaN : Number(said);
            return x >= least && x <= most ? x : null;
        },
    };
}

const numbersFrom = (least: number): Type<number[]> => ({
    print: (value) => value.join(","),
    parse: (said) => {
        const list = said ? said.split(",").map(Number) : [NaN];
        return list.every((x) => Number.isFinite(x) && x >= least) ? list : null;
    },
});

const spanFrom = (least: number): Type<[number, number]> => ({
    print: (value) => numbers.print(value.map(Math.round)),
    parse: (said) => {
        const [begin, end, ...more] = numbersFrom(least).parse(said) ?? [];
        return end > begin && !more.length ? [begin, end] : null;
    },
});

export const numbers = numbersFrom(0);

/* From before to. */
export const span = spanFrom(0);

/* The same, where 0 is not the start of all. */
export const signedSpan = spanFrom(-Infinity);

/* What a person unfolded (true) or folded, by number: "3,7x". */
export const folds: Type<Record<number, boolean>> = {
    print: (value) =>
        Object.entries(value)
            .map(([id, isOpen]) => (isOpen ? id : `${id}x`))
            .join(","),
    parse: (said) => {
        const found = [...said.matchAll(/(?:^|,)(\d{1,7})(x?)(?=,|$)/g)];
        return Object.fromEntries(found.map(([, id, x]) => [id, !x]));
    },
};

/* A call: LOCATION.ROW */
export const callOf: Type<{ location: number; call: number }> = {
    print: ({ location, call }) => `${location}.${call}`,
    parse: (said) => {
        const [, location, call] = /^(\d{1,7})\.(\d{1,10})$/.exec(said) ?? [];
        return location ? { location: Number(location), call: Number(call) } : null;
    },
};

export interface TableOrder {
    key: string;
    isDown: boolean;
}

/* By what a table is ordered: "calls-" begins with the most. */
export function orderBy(isKey: (key: string) => boolean): Type<TableOrder> {
    return {
        print: ({ key, isDown }) => `${key}${isDown ? "-" : ""}`,
        parse: (said) => {
            const key = said.replace(/-$/, "");
            return isKey(key) ? { key, isDown: said !== key } : null;
        },
    };
}

export function printState(fields: Field[]): string {
    const params = new URLSearchParams();
    for (const { key, print } of fields) {
        const text = print();
        if (text !== null) params.set(key, text);
    }
    return params.toString();
}

export function readState(fields: Field[], hash: string): void {
    const params = new URLSearchParams(hash.replace(/^#/, ""));
    for (const { key, read } of fields) read(params.get(key));
}
