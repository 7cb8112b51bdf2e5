// What comes from the server at the start, and again when it changed: the run, its executions, how they
// are judged, where they lie.
import { batch, effect, signal, untracked } from "@preact/signals";
import { Column } from "../api/columns";
import { getBundle, getJson, orNull } from "../api/http";
import { listen, watchConnection } from "../api/events";
import { Counter, Region, Run } from "../api/types";
import { given, settleGiven, sent } from "./given_labels";
import { restoreLasso } from "./link";
import { hasServer, queryOf, timesBack } from "./query";
import {
    counters,
    details,
    Details,
    executions,
    Executions,
    foi,
    foiShown,
    labelsVersion,
    moving,
    movingHere,
    notice,
    plane,
    planeShown,
    regions,
    run,
    scoresVersion,
    selected,
    shownRanks,
    views,
} from "./store";
import { firstViewsOf, viewsAtFirst } from "./views";

const columnNames = "enter_ns,duration_ns,score,verdict,label";
const detailNames = "rank,thread,index,vertices,messages";

interface Loaded {
    run: Run;
    regions: Region[];
    counters: Counter[];
}

async function loadRun(abort: AbortSignal): Promise<Loaded> {
    const loaded = await getJson<Run>("/run", abort);
    if (loaded.is_live || loaded.shows !== "run")
        return { run: loaded, regions: [], counters: [] };
    const [table, counted] = await Promise.all([
        getJson<Region[]>("/regions", abort),
        getJson<{ items: Counter[] }>("/counters", abort),
    ]);
    return { run: loaded, regions: table, counters: counted.items };
}

export const runQuery = queryOf<Loaded>(() => ({ about: "run", ask: loadRun }));

function takeRun(loaded: Loaded): void {
    counters.value = loaded.counters;
    regions.value = new Map(loaded.regions.map((r) => [r.id, r]));
    // What is shown at first depends on the run; what a link or a person says does not.
    if (loaded.run.shows === "run" && views.value === viewsAtFirst)
        views.value = firstViewsOf(loaded.run.locations.length);
    run.value = loaded.run;
    document.title = `snag: ${loaded.run.name}`;
}

/* What never changes of the executions of a function, and how they were judged when they came. */
type Columns = Record<string, Column>;
export const executionsQuery = queryOf<Columns>(() => {
    const id = foiShown.value;
    if (id === undefined) return null;
    return {
        about: `executions ${id}`,
        ask: async (abort) =>
            (await getBundle(`/fois/${id}/columns?names=${columnNames}`, abort)).columns,
    };
});

/* A little later, so that the first points are there earlier. */
export const detailsQuery = queryOf<Columns>(() => {
    const id = foiShown.value;
    if (id === undefined || !executionsQuery.answer.value.value) return null;
    return {
        about: `details ${id}`,
        ask: async (abort) =>
            (await getBundle(`/fois/${id}/columns?names=${detailNames}`, abort)).columns,
    };
});

/* Scores, verdicts and labels anew, and the run, which counts them. */
interface Judged {
    run: Run;
    columns: Columns;
    sent: number; /* so many labels had reached the server before it was asked */
}
const judgedVersion = signal(0);
const judgedQuery = queryOf<Judged>(() => {
    const id = foiShown.value;
    const version = judgedVersion.value;
    if (id === undefined || !version) return null;
    return {
        about: `judged ${id}`,
        version,
        ask: async (abort) => {
            const before = sent.peek();
            const [fresh, { columns }] = await Promise.all([
                getJson<Run>("/run", abort),
                getBundle(`/fois/${id}/columns?names=score,verdict,label`, abort),
            ]);
            return { run: fresh, columns, sent: before };
        },
    };
});

/* Asks how executions are judged now, and waits until that is shown. */
export async function reloadJudgements(): Promise<void> {
    judgedVersion.value++;
    if (!(await judgedQuery.settled())) {
        const { error } = judgedQuery.answer.peek();
        if (error !== null) throw new Error(error);
    }
}

/* Labels that were given here count at once, whatever is on its way. */
function labelsOf(columns: Columns): Int8Array {
    const said = columns.label as unknown as Int8Array;
    if (!given.value.size) return said;
    const label = said.slice();
    for (const [tree, { foi: of, code }] of given.value)
        if (of === foiShown.value && tree < label.length) label[tree] = code;
    return label;
}

function showExecutions(): void {
    const rows = executionsQuery.answer.value.value;
    const judged = judgedQuery.answer.value.value;
    if (!rows) {
        executions.value = null;
        return;
    }
    const columns = judged ? { ...rows, ...judged.columns } : rows;
    executions.value = {
        ...columns,
        label: labelsOf(columns),
        n: rows.score.length,
    } as unknown as Executions;
}

/* What a link says of executions and lanes can be checked only when they are there. */
function checkLink(): void {
    const { n } = executions.peek()!;
    restoreLasso();
    const missing = (what: string) =>
        (notice.value = {
            text: `The link names ${what} that this run does not have.`,
            isError: true,
        });
    if (selected.value !== null && selected.value >= n) {
        missing("an execution");
        selected.value = null;
    }
    const isThere = new Set(run.value?.locations.map(({ id }) => id));
    const lanes = shownRanks.value?.filter((id) => isThere.has(id));
    if (lanes && lanes.length < shownRanks.value!.length) {
        missing("ranks");
        shownRanks.value = lanes.length ? lanes : null;
    }
}

/* Where a projection has put the points; null: it is not computed. */
type Plane = { x: Column; y: Column };
const planeVersion = signal(0);
export const planeQuery = queryOf<{ plane: Plane | null }>(() => {
    const [id, method] = [foiShown.value, planeShown.value];
    if (id === undefined || method === "attributes") return null;
    return {
        about: `plane ${id} ${method}`,
        version: planeVersion.value,
        ask: async (abort) => {
            const names = `${method}.x,${method}.y`;
            const asked = getBundle(`/fois/${id}/columns?names=${names}`, abort);
            const columns = (await orNull(asked))?.columns;
            const [x, y] = [columns?.[`${method}.x`], columns?.[`${method}.y`]];
            return { plane: x && y ? { x, y } : null };
        },
    };
});

/* The points of a projection on their way: one request at a time, the newest state. */
const followed = signal<{ of: string; plane: Plane } | null>(null);
const planeNow = () => `${foiShown.value} ${planeShown.value}`;
let isFetchingPoints = false;
async function followProjection(of: string, id: number): Promise<void> {
    if (isFetchingPoints || planeNow() !== of) return;
    isFetchingPoints = true;
    try {
        const bundle = await orNull(getBundle(`/fois/${id}/projection`));
        if (bundle) followed.value = { of, plane: bundle.columns as unknown as Plane };
    } catch {
        /* the next event asks again */
    } finally {
        isFetchingPoints = false;
    }
}

/* Those that move, until where they came to rest is known. */
function showPlane(): void {
    const { value, isLoading } = planeQuery.answer.value;
    const isMoving = movingHere.value !== null || isLoading;
    const moved = followed.value;
    plane.value = isMoving && moved?.of === planeNow() ? moved.plane : (value?.plane ?? null);
}

function listenToRun(): void {
    /* The run counts the labels of all functions. */
    const judge = (id: number, version: typeof labelsVersion) =>
        reloadJudgements().then(
            () => id === foi.value?.id && version.value++,
            () => undefined /* the server is away: the page says so */,
        );
    listen({
        labels: (id) => judge(id, labelsVersion),
        retrain: (id) => judge(id, scoresVersion),
        projection: (state) => {
            if (state.running) {
                moving.value = state;
                followProjection(`${state.foi} ${state.method}`, state.foi);
                return;
            }
            const { foi: of, method } = moving.value ?? state;
            if (of === state.foi && method === state.method) moving.value = null;
            planeVersion.value++;
            reloadJudgements().catch(() => undefined); /* which projections there are */
        },
    });
}

export function startLoading(): void {
    hasServer.value = true;
    effect(() => {
        const loaded = runQuery.answer.value.value;
        if (loaded) untracked(() => batch(() => takeRun(loaded)));
    });
    effect(() => {
        const judged = judgedQuery.answer.value.value;
        if (!judged) return;
        untracked(() =>
            batch(() => {
                run.value = judged.run;
                settleGiven(judged.sent);
            }),
        );
    });
    let checked: Columns | null = null;
    effect(() => {
        if (runQuery.answer.value.value?.run.shows !== "run") return;
        showExecutions();
        const rows = executionsQuery.answer.value.value;
        if (rows && rows !== checked) untracked(() => batch(checkLink));
        checked = rows;
    });
    effect(() => {
        const more = detailsQuery.answer.value.value;
        if (runQuery.answer.value.value?.run.shows === "run")
            details.value = more as unknown as Details | null;
    });
    effect(showPlane);
    let isListening = false;
    effect(() => {
        if (!run.value || run.value.is_live || run.value.shows !== "run" || isListening) return;
        isListening = true;
        listenToRun();
    });
    watchConnection({
        probe: () => getJson<Run>("/run"),
        back: () => {
            timesBack.value++;
            if (!executions.value || run.value?.shows !== "run") return;
            if (moving.value) {
                moving.value = null; /* until the server says so again: it may have ended */
                planeVersion.value++;
            }
            reloadJudgements().then(
                () => scoresVersion.value++,
                () => undefined,
            );
        },
    });
}
