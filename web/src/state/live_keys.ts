// The keyboard on the live page.
import { signal } from "@preact/signals";
import { RecordItem, RecordPage } from "../api/live_types";
import { giveUp, goOn } from "./acts";
import { fitRow, helpRow, keyTable, moveRows } from "./key_table";
import { chooseAll, isPaused, looked, lookAtRecord } from "./live";
import { isHelpOpen } from "./overlays";
import { Answer, when } from "./query";

/* The records that the list shows now; null: they are on their way. */
export const listed = signal<RecordItem[] | null>(null);

/* Where there is no store, or its answer is that there are none, nothing is on its way. */
export function listedIn({ value, isLoading }: Answer<RecordPage | null>): RecordItem[] | null {
    return value?.items ?? (isLoading ? null : []);
}

/* The record after the one that is looked at, or before it; the first or last of none. */
export function stepRecord(by: 1 | -1): void {
    const step = () => {
        const items = listed.peek() ?? [];
        if (!items.length) return;
        const at = items.findIndex((item) => item.id === looked.value?.record);
        const next = at < 0 ? (by > 0 ? 0 : items.length - 1) : at + by;
        if (items[next]) lookAtRecord(items[next]);
    };
    goOn(() => (listed.value ? step() : when(() => listed.value !== null).then(() => step)));
}

/* One thing less, the last one first. What is under way is not waited for. */
function leave(): void {
    giveUp();
    if (isHelpOpen.value) isHelpOpen.value = false;
    else if (looked.value) looked.value = null;
    else chooseAll();
}

export const liveKeys = keyTable([
    {
        says: "next / previous record of the list",
        acts: { next: ["J", () => stepRecord(1)], before: ["K", () => stepRecord(-1)] },
    },
    {
        says: "pause, and go on",
        acts: { pause: ["P", () => (isPaused.value = !isPaused.value)] },
    },
    ...moveRows,
    fitRow("fit: the call, or all of its record; all points"),
    { says: "close the help, the call; choose nothing", acts: { leave: ["Escape", leave] } },
    helpRow,
]);
