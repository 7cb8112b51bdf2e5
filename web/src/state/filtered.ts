// What passes the filter, as the server says it: for points, sums and the words beside the filter; and what there is to
// filter by. One answer that all views share.
import { computed, signal } from "@preact/signals";
import { getBundle, getJson } from "../api/http";
import { Choices } from "../api/types";
import { filterParameters, isNarrowed, lanesIn, ofPlaces } from "./filter";
import { fold } from "./panes";
import { queryOf } from "./query";
import { filter, foiShown, labelsVersion, run, scoresVersion } from "./store";

/* Executions that pass, and what they come to by location. */
export interface Passing {
    total: number;
    passes: Uint8Array; /* by tree */
    executions: Float64Array; /* by location, as the others */
    duration_ns: Float64Array;
    lost_ns: Float64Array;
}

/* Something is left out. Only a run has a filter. */
export const isFiltered = computed(
    () => run.value?.shows === "run" && isNarrowed(filter.value),
);

/* As text: what is asked about, whatever the order of the list is. */
export const filterNow = computed(() => String(filterParameters(filter.value)));

/* What is left of it for who asks about lanes and times, and not about executions. */
export const placesNow = computed(() => String(filterParameters(ofPlaces(filter.value))));

/* Counts what may change what passes. */
export const filterVersion = computed(
    () => `${scoresVersion.value}/${filter.value.label ? labelsVersion.value : 0}`,
);

/* Asked only where something is left out. */
export const passingQuery = queryOf<Passing>(() => {
    const [id, asked] = [foiShown.value, filterNow.value];
    if (id === undefined || !isFiltered.value) return null;
    return {
        about: `passing ${id} ${asked}`,
        version: filterVersion.value,
        ask: async (abort) => {
            const { header, columns } = await getBundle(`/fois/${id}/passing?${asked}`, abort);
            return { ...header, ...columns } as unknown as Passing;
        },
    };
});

export const isFilterOpen = signal(false); /* its choices are shown */
export const wantsFilter = signal(false); /* and the first of them is to have the focus */

/* Wherever the list is. */
export function openFilter(): void {
    fold("list", false);
    isFilterOpen.value = true;
    wantsFilter.value = true;
}

export const choicesQuery = queryOf<Choices>(() => {
    const id = foiShown.value;
    if (id === undefined || !isFilterOpen.value) return null;
    return {
        about: `choices ${id}`,
        ask: (abort) => getJson<Choices>(`/fois/${id}/choices`, abort),
    };
});

/* Nodes of the run, where there are several. */
export const nodes = computed(() => {
    const all = new Set(run.value?.locations.map((l) => l.node).filter(Boolean));
    return all.size > 1 ? [...all].sort() : [];
});

/* The lanes that the filter leaves; null: all. */
export const lanesLeft = computed<number[] | null>(() => {
    const { rank, node } = filter.value;
    return rank === null && !node ? null : lanesIn(filter.value, run.value?.locations ?? []);
});
