// The execution that is selected, and the call or collective that is chosen in the timeline: what the server
// says of each, asked for once, for all views.
import { computed } from "@preact/signals";
import { getJson } from "../api/http";
import { CallAt, Collective, Shown } from "../api/types";
import { queryOf } from "./query";
import {
    chosenCall,
    chosenCollective,
    foi,
    measuredFrom,
    scoresVersion,
    selected,
} from "./store";

export const shownQuery = queryOf<Shown>(() => {
    const [id, tree] = [foi.value?.id, selected.value];
    if (id === undefined || tree === null) return null;
    return {
        about: `${id}/${tree}`,
        version: scoresVersion.value,
        ask: (abort) => getJson(`/fois/${id}/executions/${tree}`, abort),
    };
});

/* Null while there is none, or it is on its way. */
export const shownNow = (): Shown | null => shownQuery.answer.value.value;

/* The call that the selected execution is: how deep it lies tells its call paths from those of other functions. */
const rootQuery = queryOf<CallAt>(() => {
    const it = shownNow();
    if (!it) return null;
    const at = `${it.location}/${it.call}`;
    return { about: at, ask: (abort) => getJson(`/calls/${at}`, abort) };
});
export const rootDepth = computed<number | null>(
    () => rootQuery.answer.value.value?.depth ?? null,
);

const callAt = (called: typeof chosenCall) =>
    queryOf<CallAt>(() => {
        const of = called.value;
        if (!of) return null;
        const at = `${of.location}/${of.call}`;
        return { about: at, ask: (abort) => getJson(`/calls/${at}`, abort) };
    });
export const callQuery = callAt(chosenCall);
export const measuredFromQuery = callAt(measuredFrom);

export const collectiveQuery = queryOf<Collective>(() => {
    const of = chosenCollective.value;
    if (!of) return null;
    const at = `${of.location}/${of.call}`;
    return { about: at, ask: (abort) => getJson(`/calls/${at}/collective`, abort) };
});
