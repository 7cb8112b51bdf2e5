// What a person does: selects, labels, retrains, takes back. Labels are shown at once and taken
// back if the server refuses them.
import { postJson } from "../api/http";
import { Label, Retrained } from "../api/types";
import { formatCount, plural } from "../format/units";
import { treeBeside } from "./entries";
import { reloadJudgements } from "./load";
import { clearMarks } from "./marks";
import {
    busy,
    entries,
    executions,
    foi,
    labelsToLearn,
    labelsVersion,
    lassoed,
    moving,
    notice,
    planeName,
    scoresVersion,
    selected,
    shownRanks,
    timeWindow,
    views,
} from "./store";
import { ViewName } from "./views";

type LabelOrNone = Label | "clear";
type Undo =
    { kind: "labels"; labels: { tree: number; label: LabelOrNone }[] } | { kind: "retrain" };

const undoStack: Undo[] = [];
const codes = { abnormal: 1, normal: -1, clear: 0 };

export function nameOfCode(code: number): LabelOrNone {
    return code > 0 ? "abnormal" : code < 0 ? "normal" : "clear";
}

function say(text: string, isError = false): void {
    notice.value = { text, isError };
}

export function select(tree: number | null): void {
    if (selected.value === tree) return;
    selected.value = tree;
    clearMarks();
    timeWindow.value = null;
    shownRanks.value = null;
}

/* The next entry of the list, or the one before. */
export function selectStep(by: 1 | -1): void {
    const tree = treeBeside(entries.value, selected.value, by);
    if (tree !== null) select(tree);
}

export function showView(name: ViewName): void {
    if (!views.value.includes(name)) views.value = [...views.value, name];
}

function setLabels(labels: { tree: number; label: LabelOrNone }[]): void {
    const all = executions.value;
    if (!all) return;
    const label = all.label.slice();
    for (const l of labels) label[l.tree] = codes[l.label];
    executions.value = { ...all, label };
}

async function sendLabels(labels: { tree: number; label: LabelOrNone }[]): Promise<boolean> {
    const id = foi.value?.id;
    const before = labels.map((l) => ({
        tree: l.tree,
        label: nameOfCode(executions.value?.label[l.tree] ?? 0),
    }));
    setLabels(labels);
    try {
        await postJson(`/fois/${id}/labels`, { labels });
        return true;
    } catch (error) {
        setLabels(before);
        say(`The label was not stored: ${(error as Error).message}.`, true);
        return false;
    }
}

export async function labelTrees(trees: ArrayLike<number>, label: LabelOrNone): Promise<void> {
    const all = executions.value;
    if (!all || !trees.length) return;
    const labels = Array.from(trees, (tree) => ({ tree, label }));
    const before = labels.map(({ tree }) => ({ tree, label: nameOfCode(all.label[tree]) }));
    if (!(await sendLabels(labels))) return;
    undoStack.push({ kind: "labels", labels: before });
    labelsToLearn.value += trees.length;
    labelsVersion.value++;
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

async function judgeAgain(path: string, what: string): Promise<Retrained | null> {
    busy.value = what;
    try {
        const done = await postJson<Retrained>(`/fois/${foi.value?.id}/${path}`, {});
        await reloadJudgements();
        scoresVersion.value++;
        return done;
    } catch (error) {
        say(`${what} failed: ${(error as Error).message}.`, true);
        return null;
    } finally {
        busy.value = null;
    }
}

export async function retrain(): Promise<void> {
    const done = await judgeAgain("retrain", "Retraining");
    if (!done) return;
    undoStack.push({ kind: "retrain" });
    labelsToLearn.value = 0;
    const changes = done.n_changes ?? done.changes.length;
    say(
        `Learnt from ${plural(done.abnormal + done.normal, "label")}: ${plural(changes, "verdict")} changed, ` +
            `${plural(done.anomalies, "anomaly", "anomalies")} now.`,
    );
}

export async function undo(): Promise<void> {
    const last = undoStack.pop();
    if (!last) return say("There is nothing to undo.");
    if (last.kind === "retrain") {
        const done = await judgeAgain("retrain/undo", "Undoing the retrain");
        if (done) say(`The ranking is as before: ${formatCount(done.anomalies)} anomalies.`);
        return;
    }
    if (!(await sendLabels(last.labels))) return;
    labelsToLearn.value = Math.max(0, labelsToLearn.value - last.labels.length);
    labelsVersion.value++;
    say(`Label of ${plural(last.labels.length, "execution")} as before.`);
}

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

export async function startProjection(method: "pca" | "mds" | "tsne"): Promise<void> {
    const id = foi.value?.id;
    planeName.value = method;
    try {
        await postJson(`/fois/${id}/projection`, { method });
        if (id !== undefined)
            moving.value = {
                foi: id,
                method,
                iteration: 0,
                iterations: 0,
                cost: null,
                running: true,
            };
    } catch (error) {
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
