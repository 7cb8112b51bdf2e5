// How the page is laid out: the list, the views, and the details of what is selected and chosen.
import { ComponentType } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { runQuery } from "../state/load";
import {
    draggedIn,
    fold,
    isFolded,
    isPhone,
    keepDragged,
    room,
    setDragged,
} from "../state/panes";
import { shownQuery } from "../state/selected";
import { askedView, frontTab, isBehind, showView, tabs } from "../state/shown_views";
import { chosen, run, views } from "../state/store";
import { viewRow, ViewName, viewsThatAre } from "../state/views";
import { CompareDialog } from "./compare_dialog";
import { Folded } from "./fold";
import { ComparedPage } from "./compared_page";
import { HistoryPage } from "./history_page";
import { Candidates } from "./candidates";
import { Detail } from "./detail";
import { ChosenPanel, Details } from "./details";
import { Header, Messages } from "./header";
import { Help } from "./help";
import { LearningDialog } from "./learning";
import { Overview } from "./overview";
import { Live } from "./live";
import { PaneDivider } from "./divider";
import { MessagesView } from "./messages";
import { useMarkedCalls } from "./marked_calls";
import { Failed, Loading, Tabs } from "./panel";
import { Panes } from "./panes";
import { treeOf } from "./panes_layout";
import { QualityView } from "./quality";
import { QueryView } from "./query";
import { RankMapView } from "./rank_map";
import { RanksView } from "./ranks";
import { Regions } from "./regions";
import { SkipLinks, SkipTo } from "./skip_links";
import { StructureView } from "./structure";
import { Timeline } from "./timeline";
import { Tour } from "./tour";
import { Size, useSize } from "./use_size";
import { Why } from "./why";

const components: Record<ViewName, ComponentType> = {
    overview: Overview,
    why: Why,
    structure: StructureView,
    timeline: Timeline,
    map: RankMapView,
    ranks: RanksView,
    regions: Regions,
    messages: MessagesView,
    query: QueryView,
    quality: QualityView,
};

/* Of the panes that are no views. */
const otherPanes: Record<string, { title: string; pane: ComponentType }> = {
    details: { title: "Details", pane: Details },
    chosen: { title: "What is chosen", pane: ChosenPanel },
};

function Pane({ name }: { name: string }) {
    const View = otherPanes[name]?.pane ?? components[name as ViewName];
    const those = tabs.value.some((tab) => tab === name) ? tabs.value : [];
    const titles = those.map((tab) => ({
        name: tab,
        title: viewRow(tab).title,
        isFront: tab === name,
        show: () => showView(tab),
    }));
    return (
        <Tabs.Provider value={titles}>
            <View />
        </Tabs.Provider>
    );
}

function Views({ scroller }: { scroller: Size }) {
    const isStacked = room.value === "stacked";
    const [timeline = null] = viewsThatAre("below", views.value);
    const [why = null] = viewsThatAre("details", views.value);
    const above = viewsThatAre(undefined, views.value);
    const asked = askedView.value;
    useEffect(() => {
        if (asked && isStacked)
            document.getElementById(`view-${asked.name}`)?.scrollIntoView({ block: "start" });
    }, [asked]);
    const shown = {
        above: above.filter((name) => !isBehind(name)),
        timeline,
        why,
        details: isFolded("details") ? null : "details",
        chosen: chosen.value && isStacked ? "chosen" : null,
    };
    // What was dragged holds for whatever is in front of others.
    const names = [...above, timeline, shown.chosen];
    const layout = `${room.value}:${[...names, isStacked ? why : shown.details].filter((name) => name)}`;
    const tree = useMemo(() => treeOf(shown, room.value), [layout, frontTab.value]);
    return (
        <Panes
            id="views"
            layout={layout}
            tree={tree}
            scroller={scroller}
            titleOf={(name) => otherPanes[name]?.title ?? viewRow(name as ViewName).title}
            draw={(name) => <Pane name={name} />}
        />
    );
}

const usualList = 264; /* units */
const leastList = 240;
const leastBeside = 312;

function ListBorder({ layout, most, list, scale }: ListBorderProps) {
    return (
        <PaneDivider
            direction="row"
            label="Width of the list"
            controls="candidates"
            now={list}
            least={leastList}
            most={most}
            scale={scale}
            set={(size) => setDragged(layout, "", { sizes: [size], isLong: false })}
            reset={() => setDragged(layout, "", null)}
            keep={() => keepDragged(layout)}
        />
    );
}
interface ListBorderProps {
    layout: string;
    most: number;
    list: number; /* its width */
    scale: number;
}

/* The list, its border, and all that is beside it. */
function Body() {
    const box = useRef<HTMLDivElement>(null);
    const main = useRef<HTMLElement>(null);
    const size = useSize(box);
    const mainSize = useSize(main);
    const layout = `${room.value}:list`;
    const width = size.width || innerWidth; /* before it is measured */
    const most = Math.max(leastList, width - leastBeside);
    const wanted = draggedIn(layout)[""]?.sizes[0] ?? usualList;
    const list = Math.min(wanted, most);
    useMarkedCalls(shownQuery.answer.value.value);
    useEffect(() => {
        if (chosen.value) fold("details", false);
    }, [chosen.value]);
    return (
        <div class="body" ref={box} style={{ "--list": `${list * size.scale}px` }}>
            <Folded column="list" says="List" />
            {!isFolded("list") && (
                <Candidates>
                    <ListBorder layout={layout} most={most} list={list} scale={size.scale} />
                </Candidates>
            )}
            <main ref={main} class={room.value}>
                {room.value === "stacked" && <Detail />}
                <Views scroller={isPhone.value ? size : mainSize} />
            </main>
            <Folded column="details" says="Details" />
        </div>
    );
}

function skipsOfRun(): SkipTo[] {
    const timeline = {
        to: "view-timeline",
        at: ".timeline-scroll",
        says: `To the ${viewRow("timeline").title.toLowerCase()}`,
    };
    return [
        { to: "list", at: '[tabindex="0"]', says: "To the list" },
        { to: "views", says: "To the views" },
        ...(views.value.includes("timeline") ? [timeline] : []),
    ];
}

export function App() {
    const { error, retry } = runQuery.answer.value;
    if (!run.value)
        return error ? (
            <main class="alone">
                <Messages />
                <Failed text={`The run cannot be shown: ${error}`} retry={retry} />
            </main>
        ) : (
            <main class="alone">
                <Loading what="the run" />
            </main>
        );
    if (run.value.is_live) return <Live />;
    if (run.value.shows === "comparison") return <ComparedPage />;
    if (run.value.shows === "history") return <HistoryPage />;
    return (
        <>
            <SkipLinks to={skipsOfRun()} />
            <Header />
            <Messages />
            <Body />
            <Help />
            <LearningDialog />
            <CompareDialog />
            <Tour />
        </>
    );
}
