// Which counter is below the lanes of the timeline.
import { counters, counterShown } from "./store";

/* The one behind it; behind the last none, then the first. */
export function nextCounter(): void {
    const names = counters.value.map(({ name }) => name);
    counterShown.value = names[names.indexOf(counterShown.value) + 1] ?? "";
}
