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
import { printPair, readPair } from "../canvas/compared_pairs";
import { lanesBy, lanesSaid, pairAsked, roomAsked } from "./compared_timelines";
import { Field, field, flag, matching, number, oneOf, orderBy, text } from "./url";

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
    field("pair", pairAsked, { print: printPair, parse: readPair }),
    field("before", roomAsked.before, number(0, 999)),
    field("after", roomAsked.after, number(0, 999)),
    field("lanes", lanesSaid, matching(/^[\d\s,.*-]{1,400}$/)),
    field("lanes-by", lanesBy, oneOf(["run", "rank"])),
];

let path = pathChosen.value;
let run = runShown.value;
let pair = pairAsked.value;

/* Has another path, run or pair been chosen since this was asked? Then one goes back to the one before. */
export function isComparedStep(): boolean {
    const is =
        (pathChosen.value !== path && path !== null) ||
        (runShown.value !== run && run !== null) ||
        (pairAsked.value !== pair && pair !== null);
    path = pathChosen.value;
    run = runShown.value;
    pair = pairAsked.value;
    return is;
}
