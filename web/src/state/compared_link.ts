// What a link to a comparison, or to a history, restores.
import { Signal } from "@preact/signals";
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
import { number, oneOf } from "./fields";
import { Field } from "./url";

const orders = ["path", "verdict", "change_ns", "share", "before", "after", "calls", "now"];

function text(key: string, of: Signal<string | null>): Field {
    return { key, print: () => of.value, read: (said) => (of.value = said) };
}

export const comparedFields: Field[] = [
    text("path", pathChosen),
    text("zoomed", zoomedPath),
    text("kind", kindShown),
    oneOf("widths", widthsShown, widths),
    {
        key: "order",
        print: () => {
            const { key, isDown } = pathOrder.value;
            return key === "change_ns" && isDown ? null : `${key}${isDown ? "-" : ""}`;
        },
        read: (said) => {
            const key = said?.replace(/-$/, "");
            pathOrder.value = orders.includes(key ?? "")
                ? { key: key!, isDown: said!.endsWith("-") }
                : { key: "change_ns", isDown: true };
        },
    },
    {
        key: "paths",
        print: () => (isSureOnly.value ? null : "all"),
        read: (said) => (isSureOnly.value = said !== "all"),
    },
    text("function", functionChosen),
    text("series", seriesShown),
    number("run", runShown, 1, 1e12),
    number("against", lastRuns as Signal<number | null>, 1, 999),
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
