// What the timeline asks of the server: calls and messages of a window, and which ranks the selected
// execution exchanged messages with.
import { useEffect, useMemo, useState } from "preact/hooks";
import { Column } from "../api/columns";
import { CollectiveColumns } from "../canvas/collectives_draw";
import { Usual, usualOf, UsualThere, wholesOf } from "../canvas/excess";
import { Calls } from "../canvas/rows";
import { MessageColumns, withDependencies } from "../canvas/timeline_draw";
import { fetchSpan, Span } from "../canvas/window";
import { getBundle, getJson } from "../api/http";
import { CallAt, CauseLink, Location, Shown, Tree } from "../api/types";
import { Resource, useResource } from "../state/resource";
import { callColours, details, executions, foi, run } from "../state/store";

export interface WindowData {
    calls: Calls;
    messages: MessageColumns; /* and launches */
    totalMessages: number;
    collectives: CollectiveColumns;
    totalCollectives: number;
}

const mostMessages = 2000;
const mostCollectives = 200;
const mostPartners = 5;
const waitMs = 60; /* while the window moves, nothing is asked for */

function useSettled<T>(value: T, key: string): T {
    const [settled, setSettled] = useState({ value, key });
    useEffect(() => {
        if (settled.key === key) return;
        const timer = setTimeout(() => setSettled({ value, key }), waitMs);
        return () => clearTimeout(timer);
    }, [key]);
    return settled.value;
}

/* "part.call" is a column of the parts. */
function collectivesOf(columns: Record<string, Column>): CollectiveColumns {
    const parts = Object.entries(columns).flatMap(([name, column]) =>
        name.startsWith("part.") ? [[name.slice(5), column]] : [],
    );
    return {
        ...columns,
        n: columns.last_ns.length,
        parts: { ...Object.fromEntries(parts), n: columns["part.of"].length },
    } as unknown as CollectiveColumns;
}

async function loadWindow(
    [begin, end]: Span,
    width: number,
    locations: number[],
    abort: AbortSignal,
): Promise<WindowData> {
    const query = `begin=${Math.floor(begin)}&end=${Math.ceil(end)}&locations=${locations.join(",")}`;
    const [calls, messages, met, launches] = await Promise.all([
        getBundle(`/timeline?${query}&width=${width}&depth=64`, abort),
        getBundle(`/messages?${query}&limit=${mostMessages}`, abort),
        getBundle(`/collectives?${query}&limit=${mostCollectives}`, abort),
        getBundle(`/dependencies?${query}&limit=${mostMessages}`, abort),
    ]);
    const sent = {
        ...messages.columns,
        n: messages.columns.send_ns.length,
    } as unknown as MessageColumns;
    const totals = [messages, launches].map(({ header }) => Number(header.total ?? 0));
    return {
        calls: { ...calls.columns, n: calls.columns.begin_ns.length } as unknown as Calls,
        messages: withDependencies(sent, launches.columns),
        totalMessages: totals[0] + totals[1],
        collectives: collectivesOf(met.columns),
        totalCollectives: Number(met.header.total ?? 0),
    };
}

/* What is asked for: more than is seen, once the window rests. */
export interface AskedWindow {
    span: Span;
    width: number;
    locations: number[];
    key: string;
}

/* isSettled: it is that of the window as it is now. */
export function useAsked(
    window: Span | null,
    whole: Span,
    pixels: number,
    locations: number[],
): { asked: AskedWindow | null; isSettled: boolean } {
    const span = window && fetchSpan(window, whole);
    const width =
        window && span
            ? Math.min(
                  8000,
                  Math.ceil((pixels * (span[1] - span[0])) / (window[1] - window[0]) / 256) *
                      256,
              )
            : 0;
    const key = span ? `${span[0]},${span[1]},${width},${locations.join()}` : "";
    const now = span && pixels > 0 && locations.length ? { span, width, locations, key } : null;
    const asked = useSettled(now, now?.key ?? "");
    return { asked, isSettled: (asked?.key ?? "") === (now?.key ?? "") };
}

export function useWindow({
    asked,
    isSettled,
}: ReturnType<typeof useAsked>): Resource<WindowData> {
    const data = useResource<WindowData>(
        asked?.key ?? null,
        (abort) => loadWindow(asked!.span, asked!.width, asked!.locations, abort),
        true,
    );
    return { ...data, isLoading: data.isLoading || !isSettled };
}

export function locationOf(rank: number, thread: number): Location | undefined {
    return run.value?.locations.find((l) => l.rank === rank && l.thread === thread);
}

export function causeLocations(cause: CauseLink[] | null | undefined): number[] {
    return (cause ?? []).flatMap((link) => locationOf(link.rank, link.thread)?.id ?? []);
}

/* The locations it exchanged messages with, those with the most messages first. */
async function loadPartners(it: Shown, abort: AbortSignal): Promise<number[]> {
    const { columns } = await getBundle(
        `/messages?begin=${it.enter_ns}&end=${it.exit_ns}&limit=${mostMessages}`,
        abort,
    );
    const count = new Map<number, number>();
    for (let i = 0; i < columns.from.length; i++) {
        const [from, to] = [columns.from[i], columns.to[i]];
        const other = from === it.location ? to : to === it.location ? from : -1;
        if (other >= 0 && other !== it.location) count.set(other, (count.get(other) ?? 0) + 1);
    }
    return [...count].sort((a, b) => b[1] - a[1]).map(([location]) => location);
}

/* Itself, the ranks of its cause, its partners. */
export function usePartners(it: Shown | null): Resource<number[]> {
    const partners = useResource<number[]>(
        it && run.value ? `${it.foi}${it.id}` : null,
        (abort) => loadPartners(it!, abort),
    );
    if (!it || !partners.value) return partners;
    const cause = causeLocations(it.cause);
    const list = [...new Set([it.location, ...cause, ...partners.value])];
    return {
        ...partners,
        value: list.slice(0, Math.max(mostPartners + 1, new Set(cause).size + 1)),
    };
}

/* What whole executions usually take on the locations that have enough of them. */
function useWholes(isAsked: boolean): Map<number, number> {
    const [all, more] = [executions.value, details.value];
    return useMemo(() => {
        if (!isAsked || !all || !more) return new Map<number, number>();
        const keyOf = (rank: number, thread: number) => rank * 65536 + thread;
        const ids = new Map(run.value!.locations.map((l) => [keyOf(l.rank, l.thread), l.id]));
        return wholesOf(all.duration_ns, (tree) =>
            ids.get(keyOf(more.rank[tree], more.thread[tree])),
        );
    }, [isAsked, all, more]);
}

/* What calls on these locations usually take, asked for only where they are coloured by that. */
export function useUsual(locations: number[]): Usual | null {
    const of = foi.value;
    const isAsked = callColours.value === "excess" && of !== null;
    const tree = useResource<Tree>(isAsked ? `${of.id}` : null, (abort) =>
        getJson(`/fois/${of!.id}/typical`, abort),
    );
    const lanes = [...locations].sort((a, b) => a - b).join();
    const there = useResource<{ items: UsualThere[] }>(
        isAsked && lanes ? `${of.id} ${lanes}` : null,
        (abort) => getJson(`/fois/${of!.id}/typical/there?locations=${lanes}`, abort),
        true,
    );
    const wholes = useWholes(isAsked);
    const trees = of?.trees ?? 0;
    const items = there.value?.items;
    return useMemo(
        () =>
            isAsked && tree.value && items
                ? usualOf(tree.value.nodes, trees, items, wholes)
                : null,
        [isAsked, tree.value, trees, items, wholes],
    );
}

/* How deep its root lies, to tell its call paths from those of other functions. */
export function useRootDepth(it: Shown | null): number | null {
    const root = useResource<CallAt>(it ? `${it.location}/${it.call}` : null, (abort) =>
        getJson(`/calls/${it!.location}/${it!.call}`, abort),
    );
    return root.value?.depth ?? null;
}

/* The selected execution with a margin, so that what surrounds it is seen too. */
export function spanOf(tree: number | null): Span | null {
    const all = executions.value;
    if (tree === null || !all || tree >= all.n) return null;
    const margin = Math.max(10, all.duration_ns[tree] * 0.08);
    return [all.enter_ns[tree] - margin, all.enter_ns[tree] + all.duration_ns[tree] + margin];
}
