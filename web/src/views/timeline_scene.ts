// What a timeline is drawn of, whether on the page, in a picture or in a report.
import { excessSteps, fewestThere, Usual } from "../canvas/excess";
import { Calls, Lane } from "../canvas/rows";
import { arrowKind, drawNames, drawTimeline, Link, Scene } from "../canvas/timeline_draw";
import { SvgPen } from "../canvas/svg_pen";
import { Span } from "../canvas/window";
import { Shown } from "../api/types";
import { colourOfKind, kindKeys } from "../state/kinds";
import { regionName } from "../state/names";
import { callColours } from "../state/store";
import { Key } from "../canvas/figure";
import { css, regionColour } from "../format/colour";
import { Rgb, unknownColour } from "../format/palette";
import { locationName, shortId } from "../format/ids";
import { shownCause } from "../format/blame";
import { numberedCauses } from "../format/origin";
import { blameNow } from "../state/origin";
import { streamWords } from "../format/stream_words";
import { formatTime } from "../format/units";
import { counterNote } from "../format/counter_track_words";
import { newPen, Picture } from "./pictures";
import { locationOf, locationsById } from "../state/places";

export const left = 100; /* room for the names of ranks */
const mostFunctions = 16; /* in a legend */

/* By function only where there is no legend. */
export function colours(
    by: "kind" | "function" = "function",
): (region: number, depth: number, location?: number) => Rgb {
    const known = new Map<string | number, Rgb>();
    return (region, depth, location) => {
        const isGpu = location !== undefined && locationsById.value.get(location)?.is_gpu;
        const key = by === "kind" ? `${region} ${depth % 2} ${isGpu}` : region;
        let colour = known.get(key);
        if (!colour) {
            colour =
                by === "kind"
                    ? colourOfKind(region, depth, location)
                    : regionColour(regionName(region));
            known.set(key, colour);
        }
        return colour;
    };
}

export function nameOfLocation(id: number): string {
    const place = locationsById.value.get(id);
    if (place?.is_gpu && place.name) return `rank ${place.rank}, ${place.name}`;
    return place ? locationName(place.rank, place.thread) : String(id);
}

/* Beside the lane: a thread under its rank need not say which rank, nor a stream which device. */
export function nameOfLane({ location, isNested }: Lane): string {
    const place = locationsById.value.get(location);
    if (!place || !isNested) return nameOfLocation(location);
    return place.is_gpu
        ? streamWords(place.name, place.thread).stream
        : `.${place.thread} ${place.name}`;
}

export function linksOf(it: Shown | null): Link[] {
    return numberedCauses(it && shownCause(it, blameNow(it))).flatMap(({ link, number }) => {
        const location = locationOf(link.rank, link.thread)?.id;
        const { call, begin_ns, end_ns } = link;
        return location === undefined ? [] : [{ number, location, call, begin_ns, end_ns }];
    });
}

/* Of the kinds and modules that calls in the window are of. */
export function keysOfCalls(calls: Calls, window: Span): Key[] {
    return kindKeys(
        Array.from(calls.region, (region, i) => ({
            region,
            location: calls.location[i],
            i,
        })).filter(({ i }) => calls.end_ns[i] >= window[0] && calls.begin_ns[i] <= window[1]),
    );
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

/* "9 us over the usual", and what stands for it; of the usual that is known. */
export function excessKeys(usual: Usual | null): Key[] {
    if (!usual) return [];
    const steps = excessSteps(usual);
    return [
        ...steps.map(({ ns, colour }, k) => ({
            colour: css(colour),
            text: `${k ? "" : "up to "}${formatTime(ns)}${k === steps.length - 1 ? " or more" : ""}`,
        })),
        { colour: css(unknownColour), text: "not known" },
    ];
}

function keysOf(scene: Scene, it: Shown | null, usual: Usual | null): Key[] {
    const keys: Key[] = scene.colourOf
        ? excessKeys(usual)
        : callColours.value === "kind"
          ? keysOfCalls(scene.calls, scene.window)
          : functionsIn(scene).map((region) => ({
                colour: css(scene.colour(region, 0)),
                text: regionName(region),
            }));
    const drawn = scene.arrows?.list.map(({ message }) => arrowKind(scene.messages!, message));
    if (drawn?.includes("message"))
        keys.push({ colour: scene.ink, text: "message", shape: "line" });
    if (drawn?.some((kind) => kind !== "message"))
        keys.push({ colour: scene.ink, text: "launch (dashed)", shape: "line" });
    if (it) keys.push({ colour: scene.ink, text: shortId(it.id), shape: "frame" });
    if (scene.links.length)
        keys.push({
            colour: scene.hot,
            text: "1: what it goes back to",
            shape: "circle",
        });
    return keys;
}

export function timelineFigure(scene: Scene, it: Shown | null, usual: Usual | null): Picture {
    return {
        ...timelinePicture(scene, newPen()),
        about: it?.id,
        keys: keysOf(scene, it, usual),
        notes: [
            "Across: time since the start of the trace.",
            ...(scene.counter ? [counterNote(scene.counter)] : []),
            ...(scene.colourOf
                ? [
                      `Colours: how much longer than is typical on the call path, on the same rank (on all, where one has fewer than ${fewestThere} executions).`,
                  ]
                : []),
        ],
    };
}

export function timelinePicture(scene: Scene, pen: SvgPen): Picture {
    drawTimeline(pen, scene);
    drawNames(pen, scene, nameOfLane);
    return { width: scene.width, height: scene.height, content: pen.toString() };
}
