// The keyboard on the pages of comparisons and histories.
import { kindShown, pathChosen, runShown, stepPath, turnWidths, zoomedPath } from "./compared";
import { fitRow, helpRow, keyTable, moveRows } from "./key_table";
import { isHelpOpen } from "./overlays";
import { lassoed, selected } from "./store";

function fillWithChosen(): void {
    zoomedPath.value = zoomedPath.value === pathChosen.value ? null : pathChosen.value;
}

/* One thing less, the last one first. */
function leave(): void {
    if (isHelpOpen.value) isHelpOpen.value = false;
    else if (lassoed.value) lassoed.value = null;
    else if (selected.value !== null) selected.value = null;
    else if (zoomedPath.value !== null) zoomedPath.value = null;
    else if (pathChosen.value !== null) pathChosen.value = null;
    else if (kindShown.value !== null) kindShown.value = null;
    else runShown.value = null;
}

const [zoomRow, panRow] = moveRows;

export const comparedKeys = keyTable([
    {
        says: "next / previous call path of the table",
        acts: { next: ["J", () => stepPath(1)], before: ["K", () => stepPath(-1)] },
    },
    {
        says: "fill the picture with the path that is chosen, and back",
        acts: { fill: ["Z", fillWithChosen] },
    },
    { says: "widths by both sides, by before, by after", acts: { widths: ["X", turnWidths] } },
    { ...zoomRow, says: "zoom in / out (in the points)" },
    panRow,
    fitRow("fit: all points"),
    { says: "close the help; choose one thing less", acts: { leave: ["Escape", leave] } },
    helpRow,
]);
