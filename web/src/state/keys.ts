// The keyboard, as in Perfetto where it has the same thing. Views that zoom and pan register here.
import { labelTrees, retrain, selectStep, toggleLabel, undo } from "./actions";
import { isHelpOpen, tourStep } from "./overlays";
import { lassoed, selected } from "./store";

export interface Movable {
    zoom(factor: number): void;
    pan(share: number): void; /* of the width */
    fit(): void;
}

/* The view that W, A, S, D and F move: the one pointed at last, the timeline at first. */
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

function label(name: "abnormal" | "normal"): void {
    if (lassoed.value && lassoed.value.length > 1) labelTrees(lassoed.value, name);
    else if (selected.value !== null) toggleLabel(selected.value, name);
}

export const move: Record<string, () => void> = {
    w: () => movable?.zoom(1.5),
    s: () => movable?.zoom(1 / 1.5),
    a: () => movable?.pan(-0.2),
    d: () => movable?.pan(0.2),
    f: () => movable?.fit(),
};

const keys: Record<string, () => void> = {
    ...move,
    j: () => selectStep(1),
    k: () => selectStep(-1),
    n: () => label("normal"),
    b: () => label("abnormal"),
    u: () => undo(),
    r: () => retrain(),
    "?": () => (isHelpOpen.value = !isHelpOpen.value),
    escape: () => {
        isHelpOpen.value = false;
        tourStep.value = null;
        lassoed.value = null;
    },
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
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const act = heard[event.key.toLowerCase()];
        if (!act || (isTyping(event.target) && event.key !== "Escape")) return;
        event.preventDefault();
        act();
    });
}
