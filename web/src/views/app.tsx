// How the page is laid out: candidates on the left, the selected execution on top of the views.
import { ComponentType } from "preact";
import { useMemo, useRef } from "preact/hooks";
import { runQuery } from "../state/load";
import { draggedIn, keepDragged, setDragged } from "../state/panes";
import { run, views } from "../state/store";
import { viewRow, ViewName, viewTable } from "../state/views";
import { CompareDialog } from "./compare_dialog";
import { ComparedPage } from "./compared_page";
import { HistoryPage } from "./history_page";
import { Candidates } from "./candidates";
import { Detail } from "./detail";
import { Header, Messages } from "./header";
import { Help } from "./help";
import { LearningDialog } from "./learning";
import { Overview } from "./overview";
import { Live } from "./live";
import { PaneDivider } from "./divider";
import { Failed, Loading } from "./panel";
import { Panes } from "./panes";
import { Room, roomOf, treeOf } from "./panes_layout";
import { QualityView } from "./quality";
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
    quality: QualityView,
};

function Views({ room, scroller }: { room: Room; scroller: Size }) {
    const shown = viewTable.filter(({ name }) => views.value.includes(name));
    const names = (isBelow: boolean) =>
        shown.filter((view) => "isBelow" in view === isBelow).map(({ name }) => name);
    // All ranks, and then those that have lanes.
    const [above, below] = [names(false), names(true).reverse()];
    const layout = `${room}:${[...above, ...below]}`;
    const tree = useMemo(() => treeOf(above, below, room), [layout]);
    return (
        <Panes
            id="views"
            layout={layout}
            tree={tree}
            scroller={scroller}
            titleOf={(view) => viewRow(view as ViewName).title}
            draw={(view) => {
                const View = components[view as ViewName];
                return <View />;
            }}
        />
    );
}

const usualList: Record<Room, number> = { stacked: 240, usual: 280, wide: 280 }; /* units */
const leastList = 240;
const leastBeside = 312;

/* The list, its border, and all that is beside it. */
function Body() {
    const box = useRef<HTMLDivElement>(null);
    const main = useRef<HTMLElement>(null);
    const { width: measured, scale } = useSize(box);
    const room = roomOf(innerWidth);
    const layout = `${room}:list`;
    const width = measured || innerWidth; /* before it is measured */
    const most = Math.max(leastList, width - leastBeside);
    const wanted = draggedIn(layout)[""]?.sizes[0] ?? usualList[room];
    const list = Math.min(wanted, most);
    return (
        <div class="body" ref={box} style={{ "--list": `${list * scale}px` }}>
            <Candidates>
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
            </Candidates>
            <main ref={main} class={room}>
                <Detail />
                <Views room={room} scroller={useSize(main)} />
            </main>
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
