// Executions of the runs that are compared, from the pages of these runs.
import { signal } from "@preact/signals";
import { Bundle } from "../api/columns";
import { ComparedRun } from "../api/compare_types";
import { getBundleOf } from "../api/http";
import { joinColumns, RunRows, rowsOf } from "./compared_rows";
import { restoreLasso } from "./link";
import { colourBy, details, Details, executions, Executions, selected } from "./store";

const names =
    "enter_ns,duration_ns,score,verdict,label,rank,thread,index,vertices,messages".split(",");

export const runRows = signal<RunRows[]>([]);
export const rowsError = signal<string | null>(null);

function join(runs: ComparedRun[], bundles: Bundle[]): void {
    const columns = Object.fromEntries(
        names.map((name) => [name, joinColumns(bundles.map((b) => b.columns[name]))]),
    );
    let first = 0;
    const rows = runs.map((run, i) => {
        const n = bundles[i].columns.score.length;
        const of = { run, first, n };
        first += n;
        return of;
    });
    const side = new Uint8Array(first);
    for (const { run, first, n } of rows)
        side.fill(run.side === "after" ? 1 : 0, first, first + n);
    runRows.value = rows;
    details.value = columns as unknown as Details;
    executions.value = {
        ...columns,
        n: first,
        side,
        runOf: (tree: number) => {
            const of = rowsOf(tree, rows);
            return of ? `${of.run.run}, ${of.run.side}` : "";
        },
    } as unknown as Executions;
}

export async function loadRows(runs: ComparedRun[]): Promise<void> {
    const shown = runs.filter((run) => run.page !== null && run.foi !== null);
    if (!new URLSearchParams(location.hash.slice(1)).has("colour")) colourBy.value = "side";
    rowsError.value = null;
    if (!shown.length) return;
    try {
        const bundles = await Promise.all(
            shown.map((run) =>
                getBundleOf(run.page!, `/fois/${run.foi}/columns?names=${names}`),
            ),
        );
        join(shown, bundles);
        restoreLasso();
        if ((selected.value ?? 0) >= executions.value!.n) selected.value = null;
    } catch (error) {
        rowsError.value = (error as Error).message;
    }
}
