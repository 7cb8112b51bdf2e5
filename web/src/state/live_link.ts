// What a link to the live page restores.
import { number, oneOf, span } from "./fields";
import {
    colourChosen,
    coloursOfPoints,
    kindChosen,
    looked,
    modelRegion,
    planeChosen,
    planes,
    rankChosen,
    regionChosen,
    samplingChosen,
    spanChosen,
    statistic,
    windowNs,
    xChosen,
    yChosen,
} from "./live";
import { printCall, readCall } from "./live_call";
import { anything, recordsAsked } from "./live_records";
import { attributes } from "./store";
import { Field } from "./url";
import { Signal } from "@preact/signals";

const most = 4e9;

/* The conditions of the records that are not those of the page. */
const asked: Field = {
    key: "records",
    print: () => {
        const { collection, order, least_ns, offset } = recordsAsked.value;
        const text = [
            collection === anything.collection ? "" : collection,
            order === anything.order ? "" : order,
            least_ns ?? "",
            offset || "",
        ].join(":");
        return text === ":::" ? null : text;
    },
    read: (text) => {
        const [collection, order, least, offset] = (text ?? "").split(":");
        const numberOf = (x: string | undefined) =>
            /^\d{1,15}$/.test(x ?? "") ? Number(x) : null;
        recordsAsked.value = {
            collection: collection === "normalexecs" ? collection : anything.collection,
            order:
                (["score", "newest", "oldest", "longest"] as const).find((o) => o === order) ??
                anything.order,
            least_ns: numberOf(least),
            offset: numberOf(offset) ?? 0,
        };
    },
};

export const liveFields: Field[] = [
    {
        key: "call",
        print: () => printCall(looked.value),
        read: (text) => (looked.value = readCall(text)),
    },
    number("fn", regionChosen, 0, most),
    number("rank", rankChosen, 0, most),
    span("span", spanChosen),
    number("last", windowNs, 1, 1e18),
    oneOf("points", kindChosen, ["", "calls", "executions"]),
    oneOf("px", xChosen, attributes),
    oneOf("py", yChosen, attributes),
    oneOf("pcolour", colourChosen, coloursOfPoints),
    number("pshare", samplingChosen as Signal<number | null>, 0, 100),
    oneOf("history", planeChosen, planes),
    {
        key: "by",
        print: () => (statistic.value === "anomalies.total" ? null : statistic.value),
        read: (text) =>
            (statistic.value = /^(calls|(anomalies|severity_ns|exclusive_ns)\.[a-z]+)$/.test(
                text ?? "",
            )
                ? text!
                : "anomalies.total"),
    },
    number("model", modelRegion, 0, most),
    asked,
];

let before = looked.value;

/* Has another call been chosen since this was asked? Then one goes back to the one before. */
export function isLiveStep(): boolean {
    const is = looked.value !== before && before !== null;
    before = looked.value;
    return is;
}
