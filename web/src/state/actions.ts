// What a person does: selects, labels, retrains, takes back. Labels are shown at once, and not any more if the
// server refuses them.
import { batch } from "@preact/signals";
import { ApiError, postJson } from "../api/http";
import { Label, Retrained, Turned } from "../api/types";
import { lastRetrain, Settings } from "./learning";
import { plural, sentence } from "../format/units";
import { changedFilter } from "./filter";
import { reloadJudgements } from "./load";
import { give, reached, takeBack } from "./given_labels";
import { clearMarks } from "./marks";
import { locationOf } from "./places";
import {
    area,
    busy,
    chosen,
    chosenCall,
    chosenCollective,
    chosenMessage,
    details,
    executions,
    filter,
    foi,
    labelsVersion,
    lassoed,
    measuredFrom,
    moving,
    notice,
    planeName,
    scoresVersion,
    selected,
    shownRanks,
    timeWindow,
} from "./store";

type LabelOrNone = Label | "clear";
const codes = { abnormal: 1, normal: -1, clear: 0 };

export function nameOfCode(code: number): LabelOrNone {
    return code > 0 ? "abnormal" : code < 0 ? "normal" : "clear";
}

function say(text: string, isError = false): void {
    notice.value = { text, isError };
}

export function select(tree: number | null): void {
    if (selected.value === tree) return;
    batch(() => {
        selected.value = tree;
        clearMarks();
        timeWindow.value = null;
        shownRanks.value = areLanesKept ? withLaneOf(tree, shownRanks.value) : null;
        clearChosen();
    });
}

let areLanesKept = false; /* a person chose them: they hold for the next executions, too */

/* The lanes of the timeline; null: those that go with an execution. */
export function keepLanes(lanes: number[] | null): void {
    areLanesKept = lanes !== null;
    shownRanks.value = lanes;
}

/* That of the execution is always among them. */
function withLaneOf(tree: number | null, lanes: number[] | null): number[] | null {
    const more = details.value;
    if (tree === null || !lanes || !more) return lanes;
    const own = locationOf(more.rank[tree], more.thread[tree])?.id;
    return own === undefined || lanes.includes(own) ? lanes : [own, ...lanes];
}

/* What is chosen in the timeline: a call, a message, a collective, an area. False: nothing was. */
export function clearChosen(): boolean {
    const wasChosen = chosen.value ?? measuredFrom.value;
    chosenCall.value = null;
    measuredFrom.value = null;
    chosenMessage.value = null;
    chosenCollective.value = null;
    area.value = null;
    return wasChosen !== null;
}

/* What changes how executions stand reaches the server in the order in which it was done. */
let posts: Promise<unknown> = Promise.resolve();
function inTurn<T>(post: () => Promise<T>): Promise<T> {
    const next = posts.then(post);
    posts = next.catch(() => undefined);
    return next;
}

export async function labelTrees(trees: ArrayLike<number>, label: LabelOrNone): Promise<void> {
    const id = foi.value?.id;
    if (id === undefined || !executions.value || !trees.length) return;
    const labels = Array.from(trees, (tree) => ({ tree, label }));
    const of = give(id, Array.from(trees), codes[label]);
    try {
        await inTurn(() => postJson(`/fois/${id}/labels`, { labels }));
    } catch (error) {
        takeBack(of);
        return say(`The label was not stored: ${(error as Error).message}.`, true);
    }
    reached(of);
    labelsVersion.value++;
    reloadJudgements().catch(() => undefined); /* the label holds until the server is back */
    const what = plural(trees.length, "execution");
    say(
        label === "clear"
            ? `Label of ${what} removed.`
            : `${what} labelled ${label}. Retrain to use it.`,
    );
}

/* A second press of the same button takes the label back. */
export function toggleLabel(tree: number, label: Label): Promise<void> {
    const has = nameOfCode(executions.value?.label[tree] ?? 0) === label;
    return labelTrees([tree], has ? "clear" : label);
}

/* Asks for what changes how executions stand, and then how they do. */
let judging = 0;
async function judgeAgain<Done>(
    path: string,
    what: string,
    settings: object = {},
): Promise<Done | null> {
    const id = foi.value?.id; /* now, not when its turn comes */
    judging++;
    busy.value = what;
    try {
        const done = await inTurn(() => postJson<Done>(`/fois/${id}/${path}`, settings));
        await reloadJudgements();
        scoresVersion.value++;
        return done;
    } catch (error) {
        const isNothing = error instanceof ApiError && error.status === 404;
        say(
            isNothing
                ? sentence(error.message)
                : `${what} failed: ${(error as Error).message}.`,
            !isNothing,
        );
        return null;
    } finally {
        if (!--judging) busy.value = null;
    }
}

/* The learner by reasons is what people expect, and looks at no features; of another it is said which. */
function learnerWords({ learner, features }: Retrained): string {
    return !learner || learner === "reasons"
        ? ""
        : ` by ${learner} on the features ${features}`;
}

/* As the run has it, but for what is said. */
export async function retrain(settings: Partial<Settings> = {}): Promise<void> {
    const of = foi.value?.id;
    const done = await judgeAgain<Retrained>("retrain", "Retraining", settings);
    if (!done || of === undefined) return;
    lastRetrain.value = { foi: of, done };
    const changes = done.n_changes ?? done.changes.length;
    notice.value = {
        text:
            `Learnt from ${plural(done.abnormal + done.normal, "label")}${learnerWords(done)}: ` +
            `${plural(changes, "verdict")} changed, ` +
            `${plural(done.anomalies, "anomaly", "anomalies")} now.`,
        isError: false,
        act: changes ? { name: "Show what changed (C)", run: showChanged } : undefined,
    };
}

export function showChanged(): void {
    filter.value = changedFilter;
}

const ways = {
    undo: { doing: "Undoing", of: "as before", learnt: "The ranking is as before" },
    redo: { doing: "Redoing", of: "given again", learnt: "Learnt again" },
};

/* The server knows what there is to undo: also from before this page was loaded, and from others. */
async function turn(way: "undo" | "redo"): Promise<void> {
    const { doing, of, learnt } = ways[way];
    const done = await judgeAgain<Turned>(way, doing);
    if (!done) return;
    labelsVersion.value++;
    say(
        done.retrain
            ? `${learnt}: ${plural(done.retrain.anomalies, "anomaly", "anomalies")} now.`
            : `Label of ${plural(done.labels, "execution")} ${of}.`,
    );
}

export const undo = (): Promise<void> => turn("undo");
export const redo = (): Promise<void> => turn("redo");

/* The execution that stands for a selection of points: the one nearest to the middle of them. */
export function centreOf(
    trees: Uint32Array,
    x: ArrayLike<number>,
    y: ArrayLike<number>,
): number {
    let middleX = 0;
    let middleY = 0;
    for (const tree of trees) {
        middleX += x[tree] / trees.length;
        middleY += y[tree] / trees.length;
    }
    let best = trees[0];
    let least = Infinity;
    for (const tree of trees) {
        const d = (x[tree] - middleX) ** 2 + (y[tree] - middleY) ** 2;
        if (d < least) {
            least = d;
            best = tree;
        }
    }
    return best;
}

export function selectLasso(trees: Uint32Array, centre: number): void {
    lassoed.value = trees;
    select(centre);
}

export async function startProjection(
    method: "pca" | "mds" | "tsne",
    settings: { features?: string; perplexity?: number } = {},
): Promise<void> {
    const id = foi.value?.id;
    if (id === undefined) return;
    planeName.value = method;
    /* Before it is asked for: its end may be told before the answer comes. */
    const before = moving.value;
    const start = { foi: id, method, iteration: 0, iterations: 0, cost: null, running: true };
    moving.value = start;
    try {
        await postJson(`/fois/${id}/projection`, { method, ...settings });
    } catch (error) {
        if (moving.value === start) moving.value = before;
        say(`Cannot place the points: ${(error as Error).message}.`, true);
    }
}

export async function cancelProjection(): Promise<void> {
    try {
        await postJson(`/fois/${foi.value?.id}/projection/cancel`, {});
    } catch (error) {
        say(`Cannot stop it: ${(error as Error).message}.`, true);
    }
}
