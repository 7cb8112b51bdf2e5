// What a timeline is drawn of, whether on the page, in a picture or in a report.
import { Calls } from "../canvas/rows";
import { drawNames, drawTimeline, Link, Scene } from "../canvas/timeline_draw";
import { SvgPen } from "../canvas/svg_pen";
import { Shown } from "../api/types";
import { regionName } from "../state/names";
import { callColours, regions, run } from "../state/store";
import { Key } from "../canvas/figure";
import { css, regionColour, Rgb } from "../format/colour";
import { kindColour, kindNames, kindOf } from "../format/kind_colour";
import { locationName, shortId } from "../format/ids";
import { newPen, Picture } from "./pictures";
import { cssColour } from "./use_canvas";
import { locationOf } from "./timeline_data";

export const left = 92; /* room for the names of ranks */
const mostFunctions = 16; /* in a legend */

/* By function only where there is no legend. */
export function colours(
    by: "kind" | "function" = "function",
): (region: number, depth: number) => Rgb {
    const known = new Map<number, Rgb>();
    return (region, depth) => {
        const key = by === "kind" ? 2 * region + (depth % 2) : region;
        let colour = known.get(key);
        if (!colour) {
            const name = regionName(region);
            colour =
                by === "kind"
                    ? kindColour(regions.value.get(region)?.kind, name, depth)
                    : regionColour(name);
            known.set(key, colour);
        }
        return colour;
    };
}

export function nameOfLocation(id: number): string {
    const place = run.value?.locations.find((l) => l.id === id);
    return place ? locationName(place.rank, place.thread) : String(id);
}

export function linksOf(it: Shown | null): Link[] {
    return (it?.cause ?? []).flatMap((link) => {
        const location = locationOf(link.rank, link.thread)?.id;
        return location === undefined
            ? []
            : [{ location, call: link.call, begin_ns: link.begin_ns, end_ns: link.end_ns }];
    });
}

export function paletteOf(it: Shown | null) {
    const isAnomaly = it?.verdict === "anomaly";
    return {
        ink: cssColour("--ink"),
        dim: cssColour("--dim"),
        hot: cssColour(isAnomaly ? "--hot" : "--dim"),
        onHot: isAnomaly ? "#000" : cssColour("--panel"),
        paper: cssColour("--panel"),
    };
}

/* Kinds that calls are of, in the order in which kinds are named. */
export function kindsOf(calls: Calls): string[] {
    const there = new Set<string>();
    for (let i = 0; i < calls.n; i++)
        there.add(kindOf(regions.value.get(calls.region[i])?.kind));
    return Object.keys(kindNames).filter((kind) => there.has(kind));
}

/* The functions with most time in the window, by name. */
function functionsIn({ calls, window }: Scene): number[] {
    const time = new Map<number, number>();
    for (let i = 0; i < calls.n; i++) {
        const part =
            Math.min(calls.end_ns[i], window[1]) - Math.max(calls.begin_ns[i], window[0]);
        const region = calls.region[i];
        if (part > 0) time.set(region, (time.get(region) ?? 0) + part);
    }
    return [...time.keys()].sort((a, b) => time.get(b)! - time.get(a)!).slice(0, mostFunctions);
}

function keysOf(scene: Scene, it: Shown | null): Key[] {
    const keys: Key[] =
        callColours.value === "kind"
            ? kindsOf(scene.calls).map((kind) => ({
                  colour: css(kindColour(kind, "", 0)),
                  odd: css(kindColour(kind, "", 1)),
                  text: kindNames[kind],
              }))
            : functionsIn(scene).map((region) => ({
                  colour: css(scene.colour(region, 0)),
                  text: regionName(region),
              }));
    if (scene.arrows?.list.length)
        keys.push({ colour: scene.ink, text: "message", shape: "line" });
    if (it) keys.push({ colour: scene.ink, text: shortId(it.id), shape: "frame" });
    if (scene.links.length)
        keys.push({
            colour: scene.hot,
            text: "what it goes back to, by number",
            shape: "circle",
        });
    return keys;
}

export function timelineFigure(scene: Scene, it: Shown | null): Picture {
    return {
        ...timelinePicture(scene, newPen()),
        about: it?.id,
        keys: keysOf(scene, it),
        notes: ["Across: time since the start of the trace."],
    };
}

export function timelinePicture(scene: Scene, pen: SvgPen): Picture {
    drawTimeline(pen, scene);
    drawNames(pen, scene, nameOfLocation);
    return { width: scene.width, height: scene.height, content: pen.toString() };
}
