// The keyboard on the pages of comparisons and of histories.
import { giveUp } from "./acts";
import { kindShown, pathChosen, runShown, stepPath, turnWidths, zoomedPath } from "./compared";
import { stepNumber, stepRank, turnLanes, turnPairing } from "./compared_timelines";
import { fitRow, helpRow, KeyRow, keyTable, moveRows } from "./key_table";
import { closeMenus, isHelpOpen } from "./overlays";
import { lassoed, selected } from "./store";

function fillWithChosen(): void {
    zoomedPath.value = zoomedPath.value === pathChosen.value ? null : pathChosen.value;
}

/* One thing less, the last one first. What is under way is not waited for. */
function leave(): void {
    giveUp();
    if (closeMenus()) return;
    if (isHelpOpen.value) isHelpOpen.value = false;
    else if (lassoed.value) lassoed.value = null;
    else if (selected.value !== null) selected.value = null;
    else if (zoomedPath.value !== null) zoomedPath.value = null;
    else if (pathChosen.value !== null) pathChosen.value = null;
    else if (kindShown.value !== null) kindShown.value = null;
    else runShown.value = null;
}

const [zoomRow, panRow] = moveRows;

const pathRows = [
    {
        says: "next / previous call path of the table",
        acts: { next: ["J", () => stepPath(1)], before: ["K", () => stepPath(-1)] },
    },
    {
        says: "fill the picture with the path that is chosen, and back",
        acts: { fill: ["Z", fillWithChosen] },
    },
    { says: "widths by both sides, by before, by after", acts: { widths: ["X", turnWidths] } },
] as const satisfies KeyRow[];

const lastRows = [
    { says: "close the help; choose one thing less", acts: { leave: ["Escape", leave] } },
    helpRow,
] as const satisfies KeyRow[];

export const historyKeys = keyTable([...pathRows, ...lastRows]);

export const comparedKeys = keyTable([
    ...pathRows,
    {
        says: "the execution before / after, in both timelines",
        acts: {
            numberBefore: [",", () => stepNumber(-1)],
            numberAfter: [".", () => stepNumber(1)],
        },
    },
    {
        says: "the rank before / after, in both timelines",
        acts: { rankBefore: ["[", () => stepRank(-1)], rankAfter: ["]", () => stepRank(1)] },
    },
    {
        says: "executions of the same number, the longest ones, typical ones, in both timelines",
        acts: { pairing: ["P", turnPairing] },
    },
    {
        says: "lanes run by run, or rank by rank, in both timelines",
        acts: { lanesBy: ["V", turnLanes] },
    },
    {
        where: "timeline",
        says: "pan",
        acts: { panLeft: ["ArrowLeft"], panRight: ["ArrowRight"] },
    },
    { ...zoomRow, says: "zoom in / out (in both timelines, or in the points)" },
    panRow,
    fitRow("fit: both executions, again: both runs; or all points"),
    ...lastRows,
]);
