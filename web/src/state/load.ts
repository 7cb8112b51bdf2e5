// What comes from the server at the start, and again when it changed.
import { effect } from "@preact/signals";
import { getBundle, getJson, orNull } from "../api/http";
import { listen, watchConnection } from "../api/events";
import { Counter, Region, Run } from "../api/types";
import { restoreLasso } from "./link";
import { timesBack } from "./resource";
import {
    counters,
    details,
    Details,
    executions,
    Executions,
    executionsError,
    foi,
    foiShown,
    labelsVersion,
    moving,
    notice,
    plane,
    planeError,
    planeShown,
    regions,
    run,
    runError,
    scoresVersion,
    selected,
    views,
} from "./store";
import { firstViewsOf, viewsAtFirst } from "./views";

const columnNames = "enter_ns,duration_ns,score,verdict,label";
const detailNames = "rank,thread,index,vertices,messages";

export async function loadRun(): Promise<void> {
    try {
        const loaded = await getJson<Run>("/run");
        if (loaded.is_live || loaded.shows !== "run") {
            run.value = loaded;
            runError.value = null;
            document.title = `snag: ${loaded.name}`;
            return;
        }
        const [table, counted] = await Promise.all([
            getJson<Region[]>("/regions"),
            getJson<{ items: Counter[] }>("/counters"),
        ]);
        counters.value = counted.items;
        regions.value = new Map(table.map((r) => [r.id, r]));
        // What is shown at first depends on the run; what a link or a person says does not.
        if (views.value === viewsAtFirst) views.value = firstViewsOf(loaded.locations.length);
        run.value = loaded;
        runError.value = null;
        document.title = `snag: ${loaded.name}`;
    } catch (error) {
        runError.value = (error as Error).message;
    }
}

async function loadExecutions(id: number): Promise<void> {
    try {
        const { columns } = await getBundle(`/fois/${id}/columns?names=${columnNames}`);
        if (foi.value?.id !== id) return;
        executions.value = { ...columns, n: columns.score.length } as unknown as Executions;
        executionsError.value = null;
        restoreLasso();
        if (selected.value !== null && selected.value >= executions.value.n) {
            notice.value = {
                text: "The link names an execution that this run does not have.",
                isError: true,
            };
            selected.value = null;
        }
        const more = await getBundle(`/fois/${id}/columns?names=${detailNames}`);
        if (foi.value?.id === id) details.value = more.columns as unknown as Details;
    } catch (error) {
        executionsError.value = (error as Error).message;
    }
}

export function retryExecutions(): void {
    executionsError.value = null;
    if (foi.value) loadExecutions(foi.value.id);
}

/* Scores, verdicts and labels, anew; the other columns never change. */
export async function reloadJudgements(): Promise<void> {
    const id = foi.value?.id;
    if (id === undefined || !executions.value) return;
    const [fresh, { columns }] = await Promise.all([
        getJson<Run>("/run"),
        getBundle(`/fois/${id}/columns?names=score,verdict,label`),
    ]);
    if (foi.value?.id !== id) return;
    run.value = fresh;
    executions.value = { ...executions.value, ...columns } as Executions;
}

async function loadPlane(id: number, method: string): Promise<void> {
    planeError.value = null;
    try {
        const bundle = await orNull(
            getBundle(`/fois/${id}/columns?names=${method}.x,${method}.y`),
        );
        if (foi.value?.id !== id || planeShown.value !== method) return;
        plane.value = bundle && {
            x: bundle.columns[`${method}.x`],
            y: bundle.columns[`${method}.y`],
        };
    } catch (error) {
        if (foi.value?.id === id && planeShown.value === method)
            planeError.value = (error as Error).message;
    }
}

export function retryPlane(): void {
    if (foi.value) loadPlane(foi.value.id, planeShown.value);
}

/* The points of a projection on their way: one request at a time, the newest state. */
let isFetchingPoints = false;
async function followProjection(id: number, method: string): Promise<void> {
    if (isFetchingPoints || planeShown.value !== method) return;
    isFetchingPoints = true;
    try {
        const bundle = await orNull(getBundle(`/fois/${id}/projection`));
        if (bundle && foi.value?.id === id && planeShown.value === method)
            plane.value = { x: bundle.columns.x, y: bundle.columns.y };
    } catch {
        /* the next event asks again */
    } finally {
        isFetchingPoints = false;
    }
}

function listenToRun(): void {
    listen({
        labels: (id) => {
            if (id === foi.value?.id)
                reloadJudgements().then(
                    () => labelsVersion.value++,
                    () => undefined,
                );
        },
        retrain: (id) => {
            if (id === foi.value?.id)
                reloadJudgements().then(
                    () => scoresVersion.value++,
                    () => undefined,
                );
        },
        projection: (state) => {
            if (state.foi !== foi.value?.id) return;
            moving.value = state.running ? state : null;
            if (state.running) followProjection(state.foi, state.method);
            else
                getJson<Run>("/run").then(
                    (fresh) => {
                        run.value = fresh;
                        if (planeShown.value === state.method)
                            loadPlane(state.foi, state.method);
                    },
                    () => undefined,
                );
        },
    });
}

export function startLoading(): void {
    effect(() => {
        const id = foiShown.value;
        if (id === undefined) return;
        executions.value = null;
        details.value = null;
        executionsError.value = null;
        loadExecutions(id);
    });
    effect(() => {
        const id = foiShown.value;
        const method = planeShown.value;
        plane.value = null;
        planeError.value = null;
        if (id !== undefined && method !== "attributes") loadPlane(id, method);
    });
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
            if (!run.value) loadRun();
            else if (!details.value && foi.value) loadExecutions(foi.value.id);
            else
                reloadJudgements().then(
                    () => scoresVersion.value++,
                    () => undefined,
                );
            if (planeError.value) retryPlane();
        },
    });
    loadRun();
}
