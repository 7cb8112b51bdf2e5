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

export interface Field {
    key: string;
    print: () => string | null; /* null: left out */
    read: (text: string | null) => void; /* null: not in the URL */
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
