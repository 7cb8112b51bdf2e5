// What a link to a comparison, or to a history, restores.
import {
    functionChosen,
    isSureOnly,
    kindShown,
    lastRuns,
    pathChosen,
    pathOrder,
    runShown,
    seriesShown,
    widths,
    widthsShown,
    zoomedPath,
} from "./compared";
import { Field, field, flag, number, oneOf, orderBy, text } from "./url";

const orders = ["path", "verdict", "change_ns", "share", "before", "after", "calls", "now"];

export const comparedFields: Field[] = [
    field("path", pathChosen, text),
    field("zoomed", zoomedPath, text),
    field("kind", kindShown, text),
    field("widths", widthsShown, oneOf(widths)),
    field(
        "order",
        pathOrder,
        orderBy((key) => orders.includes(key)),
    ),
    field("paths", isSureOnly, flag(false, "all")),
    field("function", functionChosen, text),
    field("series", seriesShown, text),
    field("run", runShown, number(1, 1e12)),
    field("against", lastRuns, number(1, 999)),
];

let path = pathChosen.value;
let run = runShown.value;

/* Has another path or run been chosen since this was asked? Then one goes back to the one before. */
export function isComparedStep(): boolean {
    const is =
        (pathChosen.value !== path && path !== null) ||
        (runShown.value !== run && run !== null);
    path = pathChosen.value;
    run = runShown.value;
    return is;
}
