// The keyboard on the pages of comparisons and histories.
import { kindShown, pathChosen, runShown, stepPath, turnWidths, zoomedPath } from "./compared";
import { move } from "./keys";
import { isHelpOpen } from "./overlays";
import { lassoed, selected } from "./store";

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

export const comparedKeys: Record<string, () => void> = {
    ...move,
    j: () => stepPath(1),
    k: () => stepPath(-1),
    x: turnWidths,
    z: () =>
        (zoomedPath.value = zoomedPath.value === pathChosen.value ? null : pathChosen.value),
    "?": () => (isHelpOpen.value = !isHelpOpen.value),
    escape: leave,
};
