// What kind of code a function is, and which module of own code: the one place that says so, for colours, legends, tables
// and words.
import { computed } from "@preact/signals";
import { Key } from "../canvas/figure";
import { css } from "../format/colour";
import { Rgb } from "../format/palette";
import { kindColour, kindNames, kindOf, mostModules } from "../format/kind_colour";
import { moduleName, moduleOf } from "../format/module";
import { regionName } from "./names";
import { locationsById } from "./places";
import { regions } from "./store";

/* Of a function, or of its calls on a location: what a stream of a GPU runs is on a GPU, whatever else runs it too. */
export function regionKind(id: number, location?: number): string {
    if (location !== undefined && locationsById.value.get(location)?.is_gpu) return "gpu";
    const region = regions.value.get(id);
    return kindOf(region?.kind, region?.short_name);
}

/* "own code" */
export function regionKindName(id: number): string {
    return kindNames[regionKind(id)];
}

/* Modules of own code, those with most own time in the run first. */
const modules = computed(() => {
    const time = new Map<string, number>();
    for (const region of regions.value.values())
        if (kindOf(region.kind, region.short_name) === "user") {
            const module = moduleOf(region);
            time.set(module, (time.get(module) ?? 0) + region.exclusive_ns);
        }
    return [...time.keys()].sort((a, b) => time.get(b)! - time.get(a)! || (a < b ? -1 : 1));
});
const placeOfModule = computed(() => new Map(modules.value.map((module, i) => [module, i])));

/* The place of a function's module among those that have a colour: mostModules stands for all others. */
function moduleAt(id: number): number {
    const region = regions.value.get(id);
    const place = region && placeOfModule.value.get(moduleOf(region));
    return Math.min(place ?? mostModules, mostModules);
}

/* "own code: solver.c"; where all of it is one module, there is nothing to tell apart. */
function moduleWords(at: number): string {
    const all = modules.value;
    if (all.length < 2) return kindNames.user;
    if (at < mostModules) return `${kindNames.user}: ${moduleName(all[at], all)}`;
    return `${kindNames.user}: ${all.length - mostModules === 1 ? moduleName(all[at], all) : "other modules"}`;
}

export function colourOfKind(id: number, depth: number, location?: number): Rgb {
    return kindColour(regionKind(id, location), regionName(id), depth, moduleAt(id));
}

/* What is among calls, for a legend: kinds in the order in which they are named, of own code its modules. */
export function kindKeys(calls: Iterable<{ region: number; location: number }>): Key[] {
    const there = new Set<string>();
    const own = new Set<number>();
    for (const { region, location } of calls) {
        const kind = regionKind(region, location);
        there.add(kind);
        if (kind === "user") own.add(moduleAt(region));
    }
    const keyOf = (kind: string, text: string, module = 0): Key => ({
        text,
        colour: css(kindColour(kind, "", 0, module)),
        odd: css(kindColour(kind, "", 1, module)),
    });
    // What is not of the program first: there are few of these, and many modules.
    const isOwn = (kind: string) => Number(kind === "user");
    return Object.keys(kindNames)
        .filter((kind) => there.has(kind))
        .sort((a, b) => isOwn(a) - isOwn(b))
        .flatMap((kind) =>
            kind === "user"
                ? [...own].sort((a, b) => a - b).map((at) => keyOf(kind, moduleWords(at), at))
                : [keyOf(kind, kindNames[kind])],
        );
}
