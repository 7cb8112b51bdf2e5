// The keyboard, as in Perfetto where it has the same thing.
import { Signal } from "@preact/signals";
import {
    clearChosen,
    labelTrees,
    retrain,
    showChanged,
    toggleLabel,
    redo,
    undo,
} from "./actions";
import { endAlone, toggleView } from "./shown_views";
import { giveUp, goOn } from "./acts";
import { goBeside } from "./call_walk";
import { nextCounter } from "./counter_choice";
import { isFilterOpen, openFilter } from "./filtered";
import { selectStep } from "./list";
import { executionsQuery } from "./load";
import { goToOrigin } from "./origin";
import { fitRow, helpRow, keyTable, moveRows } from "./key_table";
import { hasTimeline } from "./movable";
import { filterByWindow, follow, measure, measureFrom } from "./timeline_keys";
import { ViewName, viewNames } from "./views";
import { isLearningOpen } from "./learning";
import { copyLink } from "./share";
import {
    closeFind,
    closeMenus,
    isCompareOpen,
    isHelpOpen,
    openFind,
    tourStep,
} from "./overlays";
import { toggleFold } from "./panes";
import { executions, lassoed, selected } from "./store";

/* Of what is selected when all that was pressed before is done, and once labels are here. */
function label(name: "abnormal" | "normal"): void {
    const give = () => {
        if (lassoed.value && lassoed.value.length > 1) labelTrees(lassoed.value, name);
        else if (selected.value !== null) toggleLabel(selected.value, name);
    };
    goOn(() => (executions.value ? give() : executionsQuery.settled().then(() => give)));
}

/* False: it was so before. */
function leave<T>(of: Signal<T>, at: T): boolean {
    const wasOther = of.value !== at;
    of.value = at;
    return wasOther;
}

/* Escape closes one thing: what lies above the others, or was chosen last. What is under way is not waited for. */
function closeOne(): void {
    giveUp();
    const open = [
        () => leave(isHelpOpen, false),
        () => leave(isLearningOpen, false),
        () => leave(isCompareOpen, false),
        () => leave(tourStep, null),
        closeMenus,
        () => leave(isFilterOpen, false),
        closeFind,
        clearChosen,
        () => leave(lassoed, null),
        endAlone,
    ];
    open.some((close) => close());
}

const nothing = { acts: {} }; /* that a page hears: who has the focus does it */

export const runKeys = keyTable([
    {
        says: "next / previous entry of the list",
        acts: { next: ["J", () => selectStep(1)], before: ["K", () => selectStep(-1)] },
    },
    {
        ...nothing,
        says: "in the list: along its lines, and to the buttons of one; Tab leaves it",
        shown: "Arrows",
    },
    {
        says: "label it abnormal / normal (all that is chosen, after a lasso)",
        acts: {
            abnormal: ["B", () => label("abnormal")],
            normal: ["N", () => label("normal")],
        },
    },
    { says: "retrain: learn from the labels", acts: { retrain: ["R", () => retrain()] } },
    {
        says: "how is learnt, and points are placed; what the last retrain changed, by which labels",
        acts: { learning: ["L", () => (isLearningOpen.value = !isLearningOpen.value)] },
    },
    {
        says: "list what labels changed since the detector alone judged",
        acts: { changed: ["C", showChanged] },
    },
    {
        says: "undo the last labels or retrain, and do them again",
        acts: { undo: ["U", () => undo()], redo: ["Y", () => redo()] },
        join: ", ",
    },
    ...moveRows,
    fitRow("fit: what is chosen or the selected execution; again: all"),
    {
        says: "measure: an area around the call that is chosen, or the execution",
        acts: { measure: ["M", () => hasTimeline() && measure()] },
    },
    {
        says: "measure from the call that is chosen to the one that is chosen next; or Shift and click on that one",
        acts: { measureFrom: ["X", () => hasTimeline() && measureFrom()] },
    },
    { ...nothing, says: "copy the table of what was measured", shown: "Ctrl+C" },
    { ...nothing, says: "in a query: run it", shown: "Ctrl+Enter" },
    { says: "go to what it goes back to", acts: { origin: ["G", goToOrigin] } },
    {
        says: "choose a message or a collective of it; then: to its sender / its receiver, who waited longest / came last",
        acts: {
            sender: ["[", () => hasTimeline() && follow("from")],
            receiver: ["]", () => hasTimeline() && follow("to")],
        },
    },
    {
        where: "timeline",
        says: "the call before / after it in its row",
        acts: { callBefore: ["ArrowLeft"], callAfter: ["ArrowRight"] },
    },
    {
        where: "timeline",
        says: "its caller / the first it called; where there is none, or with Shift, the lane above / below",
        acts: { caller: ["ArrowUp"], called: ["ArrowDown"] },
    },
    {
        where: "timeline",
        says: "mark its call path in all views, fold its lane",
        acts: { mark: ["Enter"], fold: [" "] },
        join: ", ",
    },
    {
        where: "timeline",
        says: "threads of its rank, keep its rank in sight",
        acts: { threads: ["T"], pin: ["P"] },
        join: ", ",
    },
    {
        says: "the next longer / shorter call of the function of the call that is chosen",
        acts: {
            longer: [",", () => goBeside("previous")],
            shorter: [".", () => goBeside("next")],
        },
    },
    {
        says: "in the timeline: the next counter below the lanes",
        acts: { counter: ["V", nextCounter] },
    },
    {
        says: "show or hide a view",
        acts: Object.fromEntries(
            viewNames.map((name, i) => [name, [String((i + 1) % 10), () => toggleView(name)]]),
        ) as Record<ViewName, [string, () => void]>,
        shown: "1 to 9, 0",
    },
    {
        says: "fold the list / the details away, and back",
        acts: {
            list: ["I", () => toggleFold("list")],
            details: ["E", () => toggleFold("details")],
        },
    },
    {
        says: "find functions, ranks, executions, call paths; Enter: the next",
        acts: { find: ["/", openFind], findToo: ["Ctrl+F", openFind] },
        join: " or ",
    },
    {
        says: "back: the window, the filter, or the execution before",
        acts: { back: ["Backspace", () => history.back()] },
    },
    {
        says: "the choices of the filter; Escape closes them",
        acts: { filter: ["Q", openFilter] },
    },
    {
        says: "filter all views by the window of the timeline; again: all times",
        acts: { onlyWindow: ["O", () => hasTimeline() && filterByWindow()] },
    },
    {
        says: "copy the link to what is shown",
        acts: { copyLink: ["H", copyLink] },
    },
    { says: "close what is open, choose none", acts: { leave: ["Escape", closeOne] } },
    helpRow,
]);

export type RunKey = Parameters<typeof runKeys.keyOf>[0];
