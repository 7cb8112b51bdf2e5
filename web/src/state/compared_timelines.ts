// The timelines of two runs that are compared: which execution of each is shown, which lanes, which window of time (from the
// start of both executions), and what was asked for of them.
import { batch, computed, signal, Signal } from "@preact/signals";
import { getJsonOf } from "../api/http";
import { Region, Run, Tree, TreeNode } from "../api/types";
import { ComparedLane, ComparedSide, wholeOf } from "../canvas/compared_calls";
import {
    executionsDuring,
    ExecutionRows,
    Index,
    indexOf,
    keyOf,
    nearestOf,
    PairChosen,
    Pairing,
    pairings,
    Place,
    rowsOfPair,
    stepPair,
    stepPlace,
    typicalPair,
} from "../canvas/compared_pairs";
import { Both, both, bothOf, Side, sides } from "../canvas/difference";
import { clampSpan, panSpan, Span, zoomSpan } from "../canvas/window";
import { executionId, locationName } from "../format/ids";
import { plural } from "../format/units";
import { giveUp, goOn } from "./acts";
import { renamed, rowsQuery, runRows, shownRuns } from "./compared_load";
import { RunRows } from "./compared_rows";
import { readLanes } from "./lanes";
import { queryOf } from "./query";
import { timeWindow } from "./store";
import { AskedWindow, askCalls, askedOf, askMessages, rested } from "./window_data";

export const mostCompared = 16; /* lanes of a run: what paths took is asked for of each */
const margin = 0.04; /* of the longer execution, on both sides */

export const pairAsked = signal<PairChosen | null>(null); /* null: a typical one */
/* Number of the page of a run, where a side has several; null: the last one. */
export const roomAsked: Both<Signal<number | null>> = both(() => signal<number | null>(null));
export const lanesSaid = signal<string | null>(
    null,
); /* "0-3, 7"; null: that of the executions */
export const lanesBy = signal<"run" | "rank">("run");
export const lanesWidth = signal(0); /* units that times have; 0: nothing is shown */

/* A run, and its executions. */
export interface PairedRun extends RunRows {
    room: number;
    rows: ExecutionRows;
}

/* Of each side those that have pages. */
export const pairedRuns = computed<Both<PairedRun[]>>(() => {
    const bundles = rowsQuery.answer.value.value;
    const all = runRows.value.map((of, i): PairedRun => {
        const columns = bundles?.[i].columns as unknown as Omit<ExecutionRows, "n">;
        const room = Number(/\d+/.exec(of.run.page!)![0]);
        return { ...of, room, rows: { ...columns, n: of.n } };
    });
    return both((side) => all.filter(({ run }) => run.side === side));
});

function runOf(side: Side): PairedRun | null {
    const of = pairedRuns.value[side];
    const asked = roomAsked[side].value;
    return of.find(({ room }) => room === asked) ?? of[of.length - 1] ?? null;
}

/* The two that are shown; null: a side has none. */
export const shownPair = computed<Both<PairedRun> | null>(() => {
    const [before, after] = sides.map(runOf);
    return before && after && { before, after };
});

export const indexes = computed<[Index, Index] | null>(() => {
    const runs = shownPair.value;
    return runs && [indexOf(runs.before.rows), indexOf(runs.after.rows)];
});

export const pairNow = computed<PairChosen | null>(() => {
    const [runs, of] = [shownPair.value, indexes.value];
    if (!runs || !of) return null;
    return (
        pairAsked.value ??
        typicalPair([runs.before.rows, runs.after.rows], of[1]) ?? { by: "longest", number: 0 }
    );
});

const rowsNow = computed<Both<number> | null>(() => {
    if (!pairNow.value) return null;
    const [before, after] = rowsOfPair(pairNow.value, indexes.value!);
    return { before, after };
});

/* "new.snag, which has 2 ranks" */
function missing(side: Side, pair: PairChosen): string {
    const { run, n } = shownPair.value![side];
    const index = indexes.value![sides.indexOf(side)];
    if (pair.by !== "same")
        return `${run.run} has ${plural(n, "execution")}, so none has place ${pair.number + 1}.`;
    const there = index.rowsAt(pair).size;
    const where = locationName(pair.rank, pair.thread);
    if (there)
        return `On ${where} ${run.run} has ${plural(there, "execution")}, and none with number ${pair.number}.`;
    const ranks = new Set(index.places.map(({ rank }) => rank)).size;
    return `On ${where} ${run.run} has no execution: it has them on ${plural(ranks, "rank")}.`;
}

/* Why nothing can be shown, in a sentence; null: it can, or is not here yet. */
export const problem = computed<string | null>(() => {
    const { isLoading, error } = rowsQuery.answer.value;
    if (!shownRuns.value || isLoading || error !== null) return null;
    const runs = pairedRuns.value;
    const without = sides.find((side) => !runs[side].length);
    if (without)
        return `There is no timeline of what is ${without}: none of it is a run directory, and a trace and a run of a history have no calls to show here.`;
    const [pair, rows] = [pairNow.value, rowsNow.value];
    const lacks = rows && sides.find((side) => rows[side] < 0);
    return lacks ? missing(lacks, pair!) : null;
});

/* --------------------------------------------------------------------- what the runs are */

interface Facts {
    run: Run;
    names: Map<number, string>;
}

export const factsQuery = queryOf<Both<Facts>>(() => {
    const runs = shownPair.value;
    if (!runs || !lanesWidth.value) return null;
    const load = async (side: Side, abort: AbortSignal): Promise<Facts> => {
        const page = runs[side].run.page!;
        const [run, regions] = await Promise.all([
            getJsonOf<Run>(page, "/run", abort),
            getJsonOf<Region[]>(page, "/regions", abort),
        ]);
        return { run, names: new Map(regions.map((r) => [r.id, r.short_name])) };
    };
    return {
        about: sides.map((side) => runs[side].run.page).join(),
        ask: (abort) => bothOf((side) => load(side, abort)),
    };
});

interface ShownLane extends Omit<ComparedLane, "tree"> {
    row: number /* of the execution there; -1: none */;
}

export interface ShownSide {
    of: PairedRun;
    row: number;
    id: string;
    place: Place;
    start_ns: number;
    duration_ns: number;
    whole: Span;
    name: (region: number) => string;
    lanes: ShownLane[];
}

function sideOf(side: Side, facts: Facts): ShownSide {
    const of = shownPair.value![side];
    const row = rowsNow.value![side];
    const { rows } = of;
    const place = { rank: rows.rank[row], thread: rows.thread[row] };
    const [start_ns, duration_ns] = [rows.enter_ns[row], rows.duration_ns[row]];
    const { locations, begin_ns, end_ns } = facts.run;
    const own = locations.find((l) => l.rank === place.rank && l.thread === place.thread);
    const during = executionsDuring(rows, start_ns, start_ns + duration_ns);
    const said = lanesSaid.value === null ? null : readLanes(lanesSaid.value, locations);
    const ids = [...new Set([...(own ? [own.id] : []), ...(said ?? [])])].slice(
        0,
        mostCompared,
    );
    const renames = new Map(side === "before" ? renamed.value : []);
    return {
        of,
        row,
        id: executionId(place.rank, place.thread, rows.index[row]),
        place,
        start_ns,
        duration_ns,
        whole: [begin_ns, Math.max(end_ns, begin_ns + 1)],
        name: (region) => {
            const name = facts.names.get(region) ?? `region ${region}`;
            return renames.get(name) ?? name;
        },
        lanes: ids.map((id) => {
            const at = locations.find((l) => l.id === id)!;
            return {
                location: id,
                name: locationName(at.rank, at.thread),
                // The executions that were chosen are compared, wherever they were; others where they are.
                pair: id === own?.id ? -1 : keyOf(at),
                row: id === own?.id ? row : during(at),
            };
        }),
    };
}

export const sidesNow = computed<Both<ShownSide> | null>(() => {
    const [facts, rows] = [factsQuery.answer.value.value, rowsNow.value];
    if (!facts || !rows || rows.before < 0 || rows.after < 0) return null;
    return both((side) => sideOf(side, facts[side]));
});

/* What is shown: answers that are about something else are none. */
const aboutNow = computed(() => {
    const now = sidesNow.value;
    return now && sides.map((side) => `${now[side].of.run.page} ${now[side].row}`).join();
});

/* ------------------------------------------------------------------------- what paths took */

export type Trees = Both<Map<number, TreeNode[]>>; /* by row */

export const treesQuery = queryOf<Trees>(() => {
    const now = sidesNow.value;
    if (!now) return null;
    const wanted = both((side) => [
        ...new Set(now[side].lanes.flatMap(({ row }) => (row < 0 ? [] : [row]))),
    ]);
    const load = async (side: Side, abort: AbortSignal) => {
        const { run } = now[side].of;
        const answers = wanted[side].map(async (row): Promise<[number, TreeNode[]]> => {
            const path = `/fois/${run.foi}/executions/${row}/tree`;
            return [row, (await getJsonOf<Tree>(run.page!, path, abort)).nodes];
        });
        return new Map(await Promise.all(answers));
    };
    return {
        about: aboutNow.value!,
        version: sides.map((side) => wanted[side].join()).join(";"),
        ask: (abort) => bothOf((side) => load(side, abort)),
    };
});

/* --------------------------------------------------------------------------------- window */

export const wholeNow = computed<Span | null>(() => {
    const now = sidesNow.value;
    return now && wholeOf(sides.map((side) => now[side]));
});

/* Both executions, with some of what is around them. */
const usualWindow = computed<Span | null>(() => {
    const now = sidesNow.value;
    if (!now) return null;
    const longer = Math.max(...sides.map((side) => now[side].duration_ns), 10);
    return [-margin * longer, (1 + margin) * longer];
});

export const windowOfPair = computed<Span | null>(() => {
    const [wanted, whole] = [timeWindow.value ?? usualWindow.value, wholeNow.value];
    return wanted && whole && clampSpan(wanted, whole);
});

interface AskedPair {
    about: string;
    key: string;
    now: Both<ShownSide>;
    windows: Both<AskedWindow>;
}

/* A window of a run, of which there may be nothing at that time. */
function within([begin, end]: Span, [first, last]: Span): Span {
    return [Math.min(begin, last - 1), Math.max(end, first + 1)];
}

const wantedPair = computed<AskedPair | null>(() => {
    const [now, window, about] = [sidesNow.value, windowOfPair.value, aboutNow.value];
    if (!now || !window) return null;
    const [before, after] = sides.map((side) => {
        const { start_ns, whole, lanes } = now[side];
        const there = within([window[0] + start_ns, window[1] + start_ns], whole);
        const locations = lanes.map(({ location }) => location);
        return askedOf(there, whole, lanesWidth.value, locations);
    });
    if (!before || !after) return null;
    const key = `${about} ${before.key} ${after.key}`;
    return { about: about!, key, now, windows: { before, after } };
});
const askedPair = rested(wantedPair);

export interface PairData {
    of: AskedPair;
    sides: Both<Pick<ComparedSide, "calls" | "messages">>;
}

const callsQuery = queryOf<PairData>(() => {
    const of = askedPair.value;
    if (!of) return null;
    const load = async (side: Side, abort: AbortSignal) => {
        const { page } = of.now[side].of.run;
        const [calls, { sent }] = await Promise.all([
            askCalls(of.windows[side], abort, page!),
            askMessages(of.windows[side], abort, page!),
        ]);
        return { calls, messages: sent };
    };
    return {
        about: of.about,
        version: of.key,
        ask: async (abort) => ({ of, sides: await bothOf((side) => load(side, abort)) }),
    };
});

/* The calls of the pair that is shown; those of another window of it while they are on their way. */
export const callsNow = computed(() => {
    const { value, ...state } = callsQuery.answer.value;
    const isOfNow = value !== null && value.of.about === aboutNow.value;
    const isAsked = wantedPair.value?.key === askedPair.value?.key;
    return {
        ...state,
        value: isOfNow ? value : null,
        error: isAsked ? state.error : null,
        isLoading: state.isLoading || !isAsked,
    };
});

/* ---------------------------------------------------------------------------- what is done */

export function choosePair(pair: PairChosen): void {
    batch(() => {
        pairAsked.value = pair;
        timeWindow.value = null;
    });
}

/* Once it is known which executions there are. */
function changePair(to: (pair: PairChosen, of: [Index, Index]) => PairChosen): void {
    const change = () => {
        const [pair, of] = [pairNow.value, indexes.value];
        if (pair && of) choosePair(to(pair, of));
    };
    goOn(() => (pairNow.value ? change() : rowsQuery.settled().then(() => change)));
}

export const stepNumber = (by: 1 | -1) => changePair((pair, of) => stepPair(pair, by, of));
export const stepRank = (by: 1 | -1) => changePair((pair, of) => stepPlace(pair, by, of));

/* What is shown of the run before stays, where the other has its like. */
function pairedBy(by: Pairing, pair: PairChosen, of: [Index, Index]): PairChosen {
    if (by !== "same") return { by, number: 0 };
    const [row, rows] = [rowsNow.value!.before, shownPair.value!.before.rows];
    if (pair.by === "same" || row < 0) return pair;
    const { rank, thread, index } = rows;
    return nearestOf({ by, rank: rank[row], thread: thread[row], number: index[row] }, of);
}

export const pairBy = (by: Pairing) => changePair((pair, of) => pairedBy(by, pair, of));

export function turnPairing(): void {
    changePair((pair, of) => {
        const at = (pairings.indexOf(pair.by) + 1) % pairings.length;
        return pairedBy(pairings[at], pair, of);
    });
}

export function turnLanes(): void {
    lanesBy.value = lanesBy.value === "run" ? "rank" : "run";
}

/* An execution of one of the runs, by its row there, and the other's of the same rank and number. */
export function showExecution({ run, room, rows }: PairedRun, row: number): void {
    const place = { rank: rows.rank[row], thread: rows.thread[row] };
    roomAsked[run.side].value = room;
    choosePair({ by: "same", ...place, number: rows.index[row] });
}

function moveTo(to: (now: Span, whole: Span) => Span | null): void {
    const move = () => {
        const [now, whole] = [windowOfPair.value, wholeNow.value];
        if (now && whole) timeWindow.value = to(now, whole);
    };
    const settled = () => rowsQuery.settled().then(() => factsQuery.settled());
    goOn(() => (windowOfPair.value ? move() : settled().then(() => move)));
}

export const movablePair = {
    zoom: (factor: number) =>
        moveTo((now, whole) => zoomSpan(now, factor, (now[0] + now[1]) / 2, whole)),
    pan: (share: number) => moveTo((now, whole) => panSpan(now, share, whole)),
    /* Both executions; again: both runs. */
    fit: () => moveTo((_, whole) => (timeWindow.value === null ? whole : null)),
};

/* By hand: what is under way would move it again. */
export function setPairWindow(next: Span): void {
    giveUp();
    timeWindow.value = next;
}
