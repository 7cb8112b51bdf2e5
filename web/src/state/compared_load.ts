// Executions of the runs that are compared, from the pages of these runs.
import { batch, computed, effect, signal, untracked } from "@preact/signals";
import { Bundle } from "../api/columns";
import { ComparedRun, ComparedRuns } from "../api/compare_types";
import { getBundleOf } from "../api/http";
import { joinColumns, RunRows, rowsOf } from "./compared_rows";
import { restoreLasso } from "./link";
import { queryOf } from "./query";
import { colourBy, details, Details, executions, Executions, selected } from "./store";

const names =
    "enter_ns,duration_ns,score,verdict,label,rank,thread,index,vertices,messages".split(",");

export const shownRuns = signal<ComparedRun[] | null>(null);
export const rowsQuery = queryOf<Bundle[]>(() => {
    const runs = shownRuns.value;
    if (!runs?.length) return null;
    return {
        about: runs.map((run) => `${run.page} ${run.foi}`).join(),
        ask: (abort) =>
            Promise.all(
                runs.map((run) =>
                    getBundleOf(run.page!, `/fois/${run.foi}/columns?names=${names}`, abort),
                ),
            ),
    };
});

export const runRows = computed<RunRows[]>(() => {
    const [runs, bundles] = [shownRuns.value, rowsQuery.answer.value.value];
    if (!runs || !bundles) return [];
    let first = 0;
    return runs.map((run, i) => {
        const n = bundles[i].columns.score.length;
        const of = { run, first, n };
        first += n;
        return of;
    });
});

function show(bundles: Bundle[]): void {
    const columns = Object.fromEntries(
        names.map((name) => [name, joinColumns(bundles.map((b) => b.columns[name]))]),
    );
    const rows = runRows.value;
    const total = rows.reduce((sum, { n }) => sum + n, 0);
    const side = new Uint8Array(total);
    for (const { run, first, n } of rows)
        side.fill(run.side === "after" ? 1 : 0, first, first + n);
    details.value = columns as unknown as Details;
    executions.value = {
        ...columns,
        n: total,
        side,
        runOf: (tree: number) => {
            const of = rowsOf(tree, rows);
            return of ? `${of.run.run}, ${of.run.side}` : "";
        },
    } as unknown as Executions;
    restoreLasso();
    if ((selected.value ?? 0) >= total) selected.value = null;
}

effect(() => {
    const bundles = rowsQuery.answer.value.value;
    if (bundles) untracked(() => batch(() => show(bundles)));
});

export const renamed = signal<[from: string, to: string][]>([]);

/* Those of which there are pages. */
export function loadRows({ runs, renames }: ComparedRuns): void {
    if (!new URLSearchParams(location.hash.slice(1)).has("colour")) colourBy.value = "side";
    renamed.value = renames;
    shownRuns.value = runs.filter((run) => run.page !== null && run.foi !== null);
}
