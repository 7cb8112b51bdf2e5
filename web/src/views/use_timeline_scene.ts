// What the timeline of a run draws now: where lanes lie, by what calls are coloured, what is chosen and marked.
import { useMemo } from "preact/hooks";
import { CallAt, Shown } from "../api/types";
import { holdsRow, isOnPath, lookup, Lookup } from "../canvas/callers";
import { CollectiveColumns, collectiveOfCall } from "../canvas/collectives_draw";
import { stripsOf } from "../canvas/counter_draw";
import { excessColour, excessOf } from "../canvas/excess";
import { Calls, heightOf, Lane, layOutBlocks } from "../canvas/rows";
import {
    arrowKind,
    Arrows,
    axisHeight,
    betweenLanes,
    CounterDrawn,
    MessageColumns,
    Scene,
} from "../canvas/timeline_draw";
import { Span } from "../canvas/window";
import { markedPaths } from "../state/marks";
import { regionName } from "../state/names";
import { locationsById } from "../state/places";
import { rootDepth } from "../state/selected";
import { areCollectivesShown, WindowData } from "../state/timeline";
import {
    callColours,
    chosenCall,
    chosenCollective,
    chosenMessage,
    mark,
    markedCalls,
    openRanks,
    regions,
    theme,
} from "../state/store";
import { comingColour } from "../format/palette";
import { timelineInks } from "./inks";
import { usePicture } from "./pictures";
import { knownUsual, UsualNow } from "./timeline_data";
import { colours, left, linksOf, timelineFigure } from "./timeline_scene";
import { Size } from "./use_size";

/* Tells which rectangles are marked: calls on a path, or those of the selected execution. */
function marker(
    calls: Calls,
    callers: Lookup,
    it: Shown | null,
    rootDepth: number | null,
): (i: number) => boolean {
    const paths = markedPaths.value;
    const picked = mark.value ? null : markedCalls.value;
    if (!paths.length || rootDepth === null) return () => false;
    if (!picked || !it)
        return (i) =>
            paths.some((path) => isOnPath(calls, callers, regionName, i, rootDepth, path));
    const rows = picked.map((v) => it.call + v);
    const depths = new Set(paths.map((path) => rootDepth + path.length - 1));
    return (i) =>
        calls.location[i] === it.location &&
        depths.has(calls.depth[i]) &&
        holdsRow(calls, callers, i, rows);
}

/* The one that is chosen, among those that are there now; null: none. */
function indexOfChosen(m: MessageColumns): number | null {
    const of = chosenMessage.value;
    for (let i = 0; of && i < m.n; i++)
        if (
            of.kind === arrowKind(m, i) &&
            of.from === m.from[i] &&
            of.to === m.to[i] &&
            of.send_ns === m.send_ns[i] &&
            of.recv_call === m.recv_call[i]
        )
            return i;
    return null;
}

/* Where the chosen collective is among those that are there now; null: none. */
function chosenAmong(c: CollectiveColumns): number | null {
    const of = chosenCollective.value;
    const at = of ? collectiveOfCall(c, of.location, of.call) : -1;
    return at < 0 ? null : at;
}

export interface TimelineProps {
    it: Shown | null;
    data: WindowData;
    isBusy: boolean; /* other calls or lanes are on their way */
    arrows: Arrows | null;
    window: Span;
    whole: Span;
    lanes: Lane[];
    usual: UsualNow; /* where calls are coloured by excess */
    counter: CounterDrawn | null;
    chosen: CallAt | null;
    height: number; /* there is for lanes while nothing is said below them */
    set: (window: Span) => void;
}

export function useTimelineScene(props: TimelineProps, size: Size, scroll: number) {
    const { it, data, lanes } = props;
    const folds = openRanks.value;
    const links = useMemo(() => linksOf(it), [it]);
    // Partners are folded only where there is no room for all.
    const room = props.height - axisHeight;
    const track = props.counter?.track ?? null;
    const strips = useMemo(
        () => stripsOf(track, lanes, (id) => locationsById.value.get(id)?.rank),
        [track, lanes],
    );
    const areAllOpen = useMemo(
        () => heightOf(layOutBlocks(lanes, data.calls, () => true, Infinity, strips)) <= room,
        [lanes, data.calls, room, strips],
    );
    const isOpen = (location: number) =>
        folds[location] ??
        (areAllOpen || location === it?.location || links.some((l) => l.location === location));
    const blocks = useMemo(
        () => layOutBlocks(lanes, data.calls, isOpen, room, strips),
        [lanes, data.calls, folds, it, areAllOpen, room, strips],
    );
    const colour = useMemo(
        () => colours(callColours.value === "kind" ? "kind" : "function"),
        [regions.value, callColours.value],
    );
    const callers = useMemo(() => lookup(data.calls), [data.calls]);
    const isByExcess = callColours.value === "excess";
    const usual = knownUsual(props.usual);
    const excess = useMemo(
        () => (usual ? excessOf(data.calls, callers, usual) : null),
        [data.calls, callers, usual],
    );
    const byExcess = (i: number) =>
        usual && excess ? excessColour(excess[i], usual) : comingColour;
    const isMarked = marker(data.calls, callers, it, rootDepth.value);

    const hasCollectives = areCollectivesShown.value;
    const inksNow = () => timelineInks(it?.verdict === "anomaly");
    const palette = useMemo(inksNow, [theme.value, it?.verdict]);
    const sceneOf = (height: number, scrolled: number, colours = palette): Scene => ({
        window: props.window,
        left,
        width: size.width,
        height,
        scroll: scrolled,
        blocks,
        calls: data.calls,
        messages: data.messages,
        arrows: props.arrows,
        own: it && { location: it.location, begin_ns: it.enter_ns, end_ns: it.exit_ns },
        links,
        chosen: props.chosen &&
            chosenCall.value && {
                location: chosenCall.value.location,
                depth: props.chosen.depth,
                begin_ns: props.chosen.enter_ns,
                end_ns: props.chosen.leave_ns,
            },
        chosenMessage: indexOfChosen(data.messages),
        collectives: hasCollectives ? data.collectives : null,
        counter: props.counter,
        chosenCollective: chosenAmong(data.collectives),
        colour,
        colourOf: isByExcess ? byExcess : undefined,
        name: regionName,
        isMarked,
        covered: [data.of],
        ...colours,
    });
    usePicture("timeline", () =>
        timelineFigure(sceneOf(axisHeight + heightOf(blocks), 0, inksNow()), it, usual),
    );
    const scene = sceneOf(size.height, scroll);
    /* It is drawn anew when one of these is another. */
    const of = [
        props.window,
        scroll,
        blocks,
        data,
        it,
        props.arrows,
        markedPaths.value,
        theme.value,
        rootDepth.value,
        props.chosen,
        chosenMessage.value,
        chosenCollective.value,
        hasCollectives,
        colour,
        isByExcess,
        excess,
        props.counter,
    ];
    // Found when the pointer first needs it.
    const between = useMemo(() => {
        let made: ReturnType<typeof betweenLanes> | null = null;
        return () => (made ??= betweenLanes(scene));
    }, [
        props.window,
        size,
        scroll,
        blocks,
        data,
        props.arrows,
        hasCollectives,
        chosenCollective.value,
    ]);
    return { scene, of, between, blocks, isOpen, callers, excess };
}
