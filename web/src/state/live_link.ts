// What a link to the live page restores.
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
import { anything, recordOrders, recordsAsked } from "./live_records";
import { attributes } from "./store";
import { Field, field, matching, number, oneOf, span, Type } from "./url";

const most = 4e9;

/* The conditions of the records that are not those of the page. */
const conditions: Type<typeof anything> = {
    print: ({ collection, order, least_ns, offset }) =>
        [
            collection === anything.collection ? "" : collection,
            order === anything.order ? "" : order,
            least_ns ?? "",
            offset || "",
        ].join(":"),
    parse: (said) => {
        const [collection, order, least, offset] = said.split(":");
        const numberOf = (x: string | undefined) =>
            /^\d{1,15}$/.test(x ?? "") ? Number(x) : null;
        return {
            collection: collection === "normalexecs" ? collection : anything.collection,
            order: recordOrders.find((o) => o === order) ?? anything.order,
            least_ns: numberOf(least),
            offset: numberOf(offset) ?? 0,
        };
    },
};

export const liveFields: Field[] = [
    field("call", looked, { print: printCall, parse: readCall }),
    field("fn", regionChosen, number(0, most)),
    field("rank", rankChosen, number(0, most)),
    field("span", spanChosen, span),
    field("last", windowNs, number(1, 1e18)),
    field("points", kindChosen, oneOf(["", "calls", "executions"])),
    field("px", xChosen, oneOf(attributes)),
    field("py", yChosen, oneOf(attributes)),
    field("pcolour", colourChosen, oneOf(coloursOfPoints)),
    field("pshare", samplingChosen, number(0, 100)),
    field("history", planeChosen, oneOf(planes)),
    field("by", statistic, matching(/^(calls|(anomalies|severity_ns|exclusive_ns)\.[a-z]+)$/)),
    field("model", modelRegion, number(0, most)),
    field("records", recordsAsked, conditions),
];

let before = looked.value;

/* Has another call been chosen since this was asked? Then one goes back to the one before. */
export function isLiveStep(): boolean {
    const is = looked.value !== before && before !== null;
    before = looked.value;
    return is;
}
