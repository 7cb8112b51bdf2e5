// What of the answer to a query can be drawn: a number for each name, or over another number.
type Value = string | number | null;

export interface QueryChart {
    kind: "bars" | "line" | "points"; /* a line where numbers ascend from row to row */
    x: { title: string; values: (string | number)[] };
    y: { title: string; values: number[] };
}

const mostBars = 60; /* names beyond them cannot be read */
const mostNames = 40; /* characters */

export function isNumeric(rows: Value[][], column: number): boolean {
    const there = rows.filter((row) => row[column] !== null);
    return there.length > 0 && there.every((row) => typeof row[column] === "number");
}

/* Of its columns the first that has names and the first that has numbers, or the first two that have numbers,
   whichever stands first. Null: there are none, or there is one row alone. */
export function chartOf(columns: string[], rows: Value[][]): QueryChart | null {
    const numeric = columns.map((_, column) => isNumeric(rows, column));
    const first = columns.findIndex((_, c) => numeric[c] || rows.some((r) => r[c] !== null));
    const second = numeric.findIndex((isNumber, c) => isNumber && c > first);
    if (first < 0 || second < 0) return null;
    const there = rows.filter((row) => row[first] !== null && row[second] !== null);
    if (there.length < 2) return null;
    const y = { title: columns[second], values: there.map((row) => Number(row[second])) };
    if (!numeric[first])
        return {
            kind: "bars",
            x: {
                title: columns[first],
                values: there.slice(0, mostBars).map((row) => shorten(String(row[first]))),
            },
            y: { ...y, values: y.values.slice(0, mostBars) },
        };
    const x = there.map((row) => Number(row[first]));
    const isAscending = x.every((value, i) => i === 0 || value > x[i - 1]);
    return {
        kind: isAscending ? "line" : "points",
        x: { title: columns[first], values: x },
        y,
    };
}

function shorten(name: string): string {
    return name.length > mostNames ? `${name.slice(0, mostNames - 1)}…` : name;
}

/* From the least to the most, with 0 where it is not far: a bar begins there. */
export function domainOf(values: number[], hasZero: boolean): [number, number] {
    let [least, most] = [Infinity, -Infinity];
    for (const value of values) {
        least = Math.min(least, value);
        most = Math.max(most, value);
    }
    if (hasZero || (least > 0 && least < most / 2)) least = Math.min(0, least);
    if (hasZero) most = Math.max(0, most);
    return least < most ? [least, most] : [least - 1, most + 1];
}
