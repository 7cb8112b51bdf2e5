// The timeline: the selected execution and the ranks it exchanged messages with, from the whole run
// down to nanoseconds, and what is chosen in it.
import { useEffect, useMemo, useRef } from "preact/hooks";
import { isOnline } from "../api/http";
import { hasMessages } from "../canvas/timeline_draw";
import { countCollectives } from "../canvas/collectives_draw";
import { formatCount, plural } from "../format/units";
import { runKeys } from "../state/keys";
import { offerMovable, offerTimeline, pointAt } from "../state/movable";
import { executionsQuery } from "../state/load";
import { callQuery, shownNow, shownQuery } from "../state/selected";
import { executions, filter, linksShown, selected } from "../state/store";
import {
    areCollectivesShown,
    arrowsOf,
    askedWindow,
    isWindowHere,
    lanesNow,
    partnersQuery,
    timelineWidth,
    wholeRun,
    windowNow,
    windowQuery,
} from "../state/timeline";
import { filterByTime, fit, pan, setWindow, zoom } from "../state/timeline_keys";
import { Minimap } from "./minimap";
import { Failed, Loading, NothingSelected, Panel } from "./panel";
import { TimelineCanvas } from "./timeline_canvas";
import { CounterChoice, CounterLegend, drawnOf, useCounter } from "./timeline_counter";
import { useUsual } from "./timeline_data";
import { left } from "./timeline_scene";
import {
    ColourChoice,
    OnlyWindow,
    RankChoice,
    TimelineLegend,
    ZoomButtons,
} from "./timeline_tools";
import { useSize } from "./use_size";

const minimapHeight = 54; /* units, with the legend and what is around them */

/* Says so when not all of the window are drawn: of messages, or of collectives. */
function DrawnCount(props: {
    of: { inWindow: number; drawn: number };
    fetched: number;
    total: number; /* of which some were fetched */
    what: string;
    says: string;
}) {
    const { of, fetched, total } = props;
    const isAll = total <= fetched;
    const all = isAll ? of.inWindow : Math.round((of.inWindow * total) / Math.max(1, fetched));
    if (all <= of.drawn) return null;
    return (
        <span class="messages" title={`${props.says} Zoom in to see them.`}>
            {formatCount(of.drawn)} of {isAll ? "" : "about "}
            {plural(all, props.what)} drawn
        </span>
    );
}

/* What its keys and buttons do is done to signals, so that they do not depend on what is drawn. */
const movable = { zoom, pan, fit };

export function Timeline() {
    const it = shownNow();
    const whole = wholeRun.value;
    const window = windowNow.value;
    const lanes = lanesNow.value;
    const locations = lanes.map(({ location }) => location);
    const body = useRef<HTMLDivElement>(null);
    const { width, height } = useSize(body);
    const data = windowQuery.answer.value;
    const counter = useCounter(askedWindow.value);
    const counterDrawn = useMemo(
        () => window && drawnOf(counter.value, window),
        [counter.value, window?.join()],
    );
    const usual = useUsual(locations);
    useEffect(() => {
        timelineWidth.value = Math.max(0, width - left);
    }, [width]);
    useEffect(() => {
        const taken = [offerMovable(movable), offerTimeline(movable)];
        return () => {
            taken.forEach((leave) => leave());
            timelineWidth.value = 0;
        };
    }, []);

    const [links, wide] = [linksShown.value, timelineWidth.value];
    const met = useMemo(
        () =>
            data.value && window && areCollectivesShown.value
                ? countCollectives(data.value.collectives, window, wide, locations)
                : null,
        [data.value, window?.join(), wide, locations.join(), links],
    );
    const arrows = useMemo(
        () => data.value && window && arrowsOf(data.value, window),
        [data.value, window?.join(), wide, it, locations.join(), links],
    );
    const executionsAnswer = executionsQuery.answer.value;
    const failed = [data, shownQuery.answer.value, partnersQuery.answer.value].filter(
        ({ error }) => error !== null && (isOnline.value || !data.value),
    );
    const hasLaunches = data.value?.messages.kind?.some((kind) => kind > 0) ?? false;
    const tools = window && (
        <>
            {isWindowHere.value && data.value && arrows && (
                <DrawnCount
                    of={arrows}
                    fetched={data.value.messages.n}
                    total={data.value.totalMessages}
                    what={hasLaunches ? "arrow" : "message"}
                    says="All of the selected execution; the others where there are few."
                />
            )}
            {isWindowHere.value && data.value && met && (
                <DrawnCount
                    of={met}
                    fetched={data.value.collectives.n}
                    total={data.value.totalCollectives}
                    what="collective"
                    says="Of many, those in which somebody is seen to wait."
                />
            )}
            <ColourChoice />
            <CounterChoice />
            <RankChoice />
            <OnlyWindow window={window} />
            <ZoomButtons
                zoom={zoom}
                fit={fit}
                fits={`What is chosen, or the selected execution (${runKeys.keyOf("fit")}); again: the whole run`}
            />
        </>
    );
    return (
        <Panel name="timeline" tools={tools}>
            <div
                class="timeline"
                ref={body}
                onPointerMove={() => pointAt(movable)}
                onFocusIn={() => pointAt(movable)}
            >
                {window && (
                    <Minimap
                        all={executions.value}
                        whole={whole}
                        window={window}
                        set={setWindow}
                        only={filter.value.time}
                        filterBy={filterByTime}
                    />
                )}
                {failed.length ? (
                    <Failed
                        text={failed[0].error!}
                        retry={() => failed.forEach(({ retry }) => retry())}
                    />
                ) : data.value && window && locations.length ? (
                    <TimelineCanvas
                        it={it}
                        data={data.value}
                        isBusy={!isWindowHere.value}
                        arrows={arrows}
                        window={window}
                        whole={whole}
                        lanes={lanes}
                        usual={usual}
                        counter={counterDrawn}
                        chosen={callQuery.answer.value.value}
                        height={height - minimapHeight}
                        set={setWindow}
                    />
                ) : !window && executionsAnswer.error !== null ? (
                    <Failed text={executionsAnswer.error} retry={executionsAnswer.retry} />
                ) : selected.value === null ? (
                    <NothingSelected>Choose an execution to see it over time.</NothingSelected>
                ) : (
                    <Loading what="the timeline" />
                )}
                {data.value && window && (
                    <TimelineLegend
                        calls={data.value.calls}
                        window={window}
                        hasMessages={!!arrows && hasMessages(data.value.messages, arrows)}
                        usual={usual}
                        hasCollectives={data.value.collectives.n > 0}
                        hasLaunches={hasLaunches}
                    />
                )}
                <CounterLegend track={counter} drawn={counterDrawn} />
            </div>
        </Panel>
    );
}
