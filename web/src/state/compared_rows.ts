// Executions of several runs as one table: those of a run stand one after another.
import { Column } from "../api/columns";
import { ComparedRun } from "../api/compare_types";

/* The part of the table that is of one run. */
export interface RunRows {
    run: ComparedRun;
    first: number;
    n: number;
}

/* Columns one behind the other, of the type of the first. */
export function joinColumns(parts: Column[]): Column {
    const n = parts.reduce((sum, part) => sum + part.length, 0);
    const joined = new (parts[0].constructor as Float64ArrayConstructor)(n);
    let at = 0;
    for (const part of parts) {
        joined.set(part as Float64Array, at);
        at += part.length;
    }
    return joined;
}

export function rowsOf(tree: number, rows: readonly RunRows[]): RunRows | null {
    return rows.find(({ first, n }) => tree >= first && tree < first + n) ?? null;
}
