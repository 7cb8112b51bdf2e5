// Tables as comma-separated values, as RFC 4180 has them. Names come from traces of other people: one that
// a spreadsheet would take for a formula gets a quote in front.

export type Cell = string | number | boolean | null;

export interface Table {
    head: string[];
    rows: Cell[][];
}

function printCell(x: Cell): string {
    const text = String(x ?? "");
    const safe = typeof x === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}

export function printCsv({ head, rows }: Table): string {
    return [head, ...rows].map((row) => row.map(printCell).join() + "\r\n").join("");
}
