// What is usual of the calls that the timeline shows, for colours by excess.
import { useMemo } from "preact/hooks";
import { Usual, usualOf, UsualThere, wholesOf } from "../canvas/excess";
import { getJson } from "../api/http";
import { Tree } from "../api/types";
import { useQuery } from "../state/query";
import { callColours, details, executions, foi, run } from "../state/store";

/* What whole executions usually take on the locations that have enough of them; null: it is not here yet. */
function useWholes(isAsked: boolean): Map<number, number> | null {
    const [all, more] = [executions.value, details.value];
    return useMemo(() => {
        if (!isAsked || !all || !more) return null;
        const keyOf = (rank: number, thread: number) => rank * 65536 + thread;
        const ids = new Map(run.value!.locations.map((l) => [keyOf(l.rank, l.thread), l.id]));
        return wholesOf(all.duration_ns, (tree) =>
            ids.get(keyOf(more.rank[tree], more.thread[tree])),
        );
    }, [isAsked, all?.duration_ns, more]);
}

/* What calls on these locations usually take, asked for only where they are coloured by that. "coming": it is on its
   way; an error: why it is not known. */
export type UsualNow = Usual | "coming" | { error: string } | null;

export function knownUsual(usual: UsualNow): Usual | null {
    return usual === null || usual === "coming" || "error" in usual ? null : usual;
}

export function useUsual(locations: number[]): UsualNow {
    const of = foi.value;
    const isAsked = callColours.value === "excess" && of !== null;
    const tree = useQuery<Tree>(isAsked ? `${of.id}` : null, (abort) =>
        getJson(`/fois/${of!.id}/typical`, abort),
    );
    const lanes = [...locations].sort((a, b) => a - b).join();
    const there = useQuery<{ items: UsualThere[] }>(
        isAsked && lanes ? `${of.id} ${lanes}` : null,
        (abort) => getJson(`/fois/${of!.id}/typical/there?locations=${lanes}`, abort),
    );
    const wholes = useWholes(isAsked);
    const trees = of?.trees ?? 0;
    const items = there.value?.items;
    const error = tree.error ?? there.error;
    return useMemo(() => {
        if (!isAsked) return null;
        if (error !== null) return { error };
        if (!tree.value || !items || !wholes) return "coming";
        return usualOf(tree.value.nodes, trees, items, wholes);
    }, [isAsked, tree.value, trees, items, wholes, error]);
}
