// What the server is asked for a window of a run's timeline: of the run of this page, or of one that is compared, whose page
// is below it.
import { effect, ReadonlySignal, Signal, signal, untracked } from "@preact/signals";
import { getBundleOf } from "../api/http";
import { Calls } from "../canvas/rows";
import { MessageColumns } from "../canvas/timeline_draw";
import { fetchSpan, Span } from "../canvas/window";

export const mostMessages = 2000;
const mostDepths = 64;
const waitMs = 60; /* while the window moves, nothing is asked for */

/* More than is seen. */
export interface AskedWindow {
    span: Span;
    width: number;
    locations: number[];
    key: string;
}

/* Null where there is nothing to be seen. pixels: that the window is wide. */
export function askedOf(
    window: Span,
    whole: Span,
    pixels: number,
    locations: number[],
): AskedWindow | null {
    if (!pixels || !locations.length) return null;
    const span = fetchSpan(window, whole);
    const share = (span[1] - span[0]) / (window[1] - window[0]);
    const width = Math.min(8000, Math.ceil((pixels * share) / 256) * 256);
    const key = `${span[0]},${span[1]},${width},${locations.join()}`;
    return { span, width, locations, key };
}

/* What is wanted, once it rests. */
export function rested<T extends { key: string }>(
    wanted: ReadonlySignal<T | null>,
): Signal<T | null> {
    const asked = signal<T | null>(null);
    effect(() => {
        const now = wanted.value;
        if (now?.key === untracked(() => asked.value?.key)) return;
        const timer = setTimeout(() => (asked.value = now), waitMs);
        return () => clearTimeout(timer);
    });
    return asked;
}

export function printWindow({ span: [begin, end], locations }: AskedWindow): string {
    return `begin=${Math.floor(begin)}&end=${Math.ceil(end)}&locations=${locations.join(",")}`;
}

/* page: of a run that is compared; without it, of the run of this page. */
export async function askCalls(of: AskedWindow, abort: AbortSignal, page = ""): Promise<Calls> {
    const path = `/timeline?${printWindow(of)}&width=${of.width}&depth=${mostDepths}`;
    const { columns } = await getBundleOf(page, path, abort);
    return { ...columns, n: columns.begin_ns.length } as unknown as Calls;
}

export async function askMessages(
    of: AskedWindow,
    abort: AbortSignal,
    page = "",
): Promise<{ sent: MessageColumns; total: number }> {
    const path = `/messages?${printWindow(of)}&limit=${mostMessages}`;
    const { columns, header } = await getBundleOf(page, path, abort);
    const sent = { ...columns, n: columns.send_ns.length } as unknown as MessageColumns;
    return { sent, total: Number(header.total ?? 0) };
}
