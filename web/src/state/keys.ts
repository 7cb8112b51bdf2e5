// The keyboard, as in Perfetto where it has the same thing. Views that zoom and pan register here.
import {
    clearChosen,
    endAlone,
    labelTrees,
    retrain,
    showChanged,
    toggleLabel,
    toggleView,
    redo,
    undo,
} from "./actions";
import { giveUp, goOn } from "./acts";
import { goBeside } from "./call_walk";
import { nextCounter } from "./counter_choice";
import { selectStep } from "./list";
import { executionsQuery } from "./load";
import { goToOrigin } from "./origin";
import { viewNames } from "./views";
import { isLearningOpen } from "./learning";
import { closeFind, closeMenus, isHelpOpen, openFind, tourStep } from "./overlays";
import { executions, lassoed, selected } from "./store";

export interface Movable {
    zoom(factor: number): void;
    pan(share: number): void; /* of the width */
    fit(): void;
    measure?(): void; /* an area around what is chosen */
    follow?(end: "from" | "to"): void; /* a message, to one of its ends */
}

/* The view that W, A, S, D and F move: where the pointer or the focus was last; the timeline at first. */
let movable: Movable | null = null;
let isPointed = false;

export function offerMovable(view: Movable): () => void {
    if (!isPointed) movable = view;
    return () => {
        if (movable === view) {
            movable = null;
            isPointed = false;
        }
    };
}

export function pointAt(view: Movable): void {
    movable = view;
    isPointed = true;
}

/* Of what is selected when all that was pressed before is done, and once labels are here. */
function label(name: "abnormal" | "normal"): void {
    const give = () => {
        if (lassoed.value && lassoed.value.length > 1) labelTrees(lassoed.value, name);
        else if (selected.value !== null) toggleLabel(selected.value, name);
    };
    goOn(() => (executions.value ? give() : executionsQuery.settled().then(() => give)));
}

/* What the timeline alone does, wherever the pointer is. */
let timeline: Movable | null = null;

export function offerTimeline(view: Movable): () => void {
    timeline = view;
    return () => (timeline = null);
}

function moved(): Movable | null {
    return isPointed ? movable : (timeline ?? movable);
}

export const move: Record<string, () => void> = {
    w: () => moved()?.zoom(1.5),
    s: () => moved()?.zoom(1 / 1.5),
    a: () => moved()?.pan(-0.2),
    d: () => moved()?.pan(0.2),
    f: () => moved()?.fit(),
};

function closeHelp(): boolean {
    const wasOpen = isHelpOpen.value;
    isHelpOpen.value = false;
    return wasOpen;
}

function closeLearning(): boolean {
    const wasOpen = isLearningOpen.value;
    isLearningOpen.value = false;
    return wasOpen;
}

function endTour(): boolean {
    const wasOpen = tourStep.value !== null;
    tourStep.value = null;
    return wasOpen;
}

function chooseNone(): boolean {
    const had = lassoed.value !== null;
    lassoed.value = null;
    return had;
}

/* Escape closes one thing: what lies above the others, or was chosen last. What is under way is not waited for. */
function closeOne(): void {
    giveUp();
    const open = [
        closeHelp,
        closeLearning,
        endTour,
        closeMenus,
        closeFind,
        clearChosen,
        chooseNone,
        endAlone,
    ];
    open.some((close) => close());
}

const keys: Record<string, () => void> = {
    ...move,
    ...Object.fromEntries(viewNames.map((name, i) => [String(i + 1), () => toggleView(name)])),
    m: () => timeline?.measure?.(),
    g: goToOrigin,
    "[": () => timeline?.follow?.("from"),
    "]": () => timeline?.follow?.("to"),
    ",": () => goBeside("previous"),
    ".": () => goBeside("next"),
    j: () => selectStep(1),
    k: () => selectStep(-1),
    n: () => label("normal"),
    b: () => label("abnormal"),
    c: showChanged,
    v: nextCounter,
    u: () => undo(),
    y: () => redo(),
    r: () => retrain(),
    l: () => (isLearningOpen.value = !isLearningOpen.value),
    "?": () => (isHelpOpen.value = !isHelpOpen.value),
    backspace: () => history.back(),
    "/": openFind,
    escape: closeOne,
};

function isTyping(target: EventTarget | null): boolean {
    const element = target as HTMLElement | null;
    return !!element?.closest?.(
        "input:not([type=range]):not([type=checkbox]), textarea, select",
    );
}

let heard = keys;

/* Another page than that of a run has keys of its own. */
export function hearKeys(table: Record<string, () => void>): void {
    heard = table;
}

export function listenToKeys(): void {
    addEventListener("keydown", (event) => {
        const isFind = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "f";
        if (isFind && heard === keys) {
            event.preventDefault();
            return openFind();
        }
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const act = heard[event.key.toLowerCase()];
        if (!act || (isTyping(event.target) && event.key !== "Escape")) return;
        event.preventDefault();
        act();
    });
}
