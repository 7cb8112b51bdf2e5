// Which views are shown, and which of those that share a place is in front.
import { computed, signal } from "@preact/signals";
import { fold, isFolded, room, sharedPlace } from "./panes";
import { chosen, front, views } from "./store";
import { viewNames, viewRow, ViewName, viewsThatAre } from "./views";

/* Views of which one at a time is seen, as there is no room for them beside each other. */
export const tabs = computed(() =>
    sharedPlace(viewsThatAre(undefined, views.value), room.value),
);

/* The map is shown at first where ranks are many: then it is the way in. */
export const frontTab = computed(
    () =>
        tabs.value.find((name) => name === front.value) ??
        tabs.value.find((name) => name === "map") ??
        tabs.value[0] ??
        null,
);

/* What is chosen in the timeline comes before Why, until that is asked for. */
const leftFor = signal<unknown>(null);
export const isChosenInFront = computed(
    () => chosen.value !== null && leftFor.value !== chosen.value,
);

export function showChosen(isInFront: boolean): void {
    leftFor.value = isInFront ? null : chosen.value;
}

/* Asked for last: where views are below each other it is scrolled to. */
export const askedView = signal<{ name: ViewName } | null>(null);

export function showView(name: ViewName): void {
    askedView.value = { name };
    views.value = viewNames.filter((v) => v === name || views.value.includes(v));
    if (tabs.value.includes(name)) front.value = name;
    if (viewRow(name).is !== "details") return;
    fold("details", false);
    showChosen(false);
}

/* It shares its place with one that is in front. */
export function isBehind(name: ViewName): boolean {
    return tabs.value.includes(name) && name !== frontTab.value;
}

function isSeen(name: ViewName): boolean {
    if (!views.value.includes(name)) return false;
    if (viewRow(name).is === "details" && room.value !== "stacked")
        return !isChosenInFront.value && !isFolded("details");
    return !isBehind(name);
}

/* What is behind another comes to the front first. There is always one. A part of the details is folded with them. */
export function toggleView(name: ViewName): void {
    const isPart = viewRow(name).is === "details" && room.value !== "stacked";
    if (!isSeen(name) || isPart) return showView(name);
    const next = views.value.filter((v) => v !== name);
    if (next.length) views.value = next;
}

let before: ViewName[] | null = null; /* one view was made larger */

export function isOneOfMany(): boolean {
    return views.value.length > 1 || before !== null;
}

/* Back to all that were there. False: none is alone. */
export function endAlone(): boolean {
    if (views.value.length > 1 || !before) return false;
    views.value = before;
    before = null;
    return true;
}

/* One view alone, and back. */
export function toggleAlone(name: ViewName): void {
    if (endAlone()) return;
    before = views.value;
    views.value = [name];
}
