// The locations of the run, by what they are looked up by.
import { computed } from "@preact/signals";
import { Location } from "../api/types";
import { threadsByRank } from "./lane_groups";
import { run } from "./store";

export const locationsById = computed<Map<number, Location>>(
    () => new Map(run.value?.locations.map((l) => [l.id, l])),
);

export const ranksOfRun = computed(() => threadsByRank(run.value?.locations ?? []));

export function locationOf(rank: number, thread: number): Location | undefined {
    return run.value?.locations.find((l) => l.rank === rank && l.thread === thread);
}
