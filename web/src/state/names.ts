// Names of functions as they are shown: without return types, parameters and files. The full name of
// a C++ function can be longer than the page is wide; it is left to tooltips.
import { computed } from "@preact/signals";
import { regions } from "./store";

const shortOf = computed(
    () => new Map([...regions.value.values()].map((r) => [r.name, r.short_name])),
);

export function shortName(name: string): string {
    return shortOf.value.get(name) ?? name;
}

export function shortPath(path: string[]): string[] {
    return path.map(shortName);
}

export function regionName(id: number): string {
    return regions.value.get(id)?.short_name ?? `region ${id}`;
}

/* " (solver.c:17)", where its source is known and not in its name. */
export function regionPlace(id: number): string {
    const region = regions.value.get(id);
    const file = region?.file?.split("/").pop();
    const place = `${file}:${region?.line}`;
    return file && !region!.name.includes(place) ? ` (${place})` : "";
}
