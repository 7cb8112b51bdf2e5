// How the page is laid out: candidates on the left, the selected execution on top of the views.
import { ComponentType } from "preact";
import { loadRun } from "../state/load";
import { run, runError, views } from "../state/store";
import { ViewName, viewTable } from "../state/views";
import { ComparedPage } from "./compared_page";
import { HistoryPage } from "./history_page";
import { Candidates } from "./candidates";
import { Detail } from "./detail";
import { Header, Messages } from "./header";
import { Help } from "./help";
import { Overview } from "./overview";
import { Live } from "./live";
import { Failed, Loading } from "./panel";
import { QualityView } from "./quality";
import { RankMapView } from "./rank_map";
import { RanksView } from "./ranks";
import { Regions } from "./regions";
import { StructureView } from "./structure";
import { Timeline } from "./timeline";
import { Tour } from "./tour";
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

function Views() {
    const shown = viewTable.filter(({ name }) => views.value.includes(name));
    const above = shown.filter((view) => !("isBelow" in view));
    // All ranks, and then those that have lanes.
    const below = shown.filter((view) => "isBelow" in view).reverse();
    const draw = ({ name }: { name: ViewName }) => {
        const View = components[name];
        return <View key={name} />;
    };
    return (
        <div class="views">
            {above.length > 0 && (
                <div class={`above n${Math.min(above.length, 6)}`}>{above.map(draw)}</div>
            )}
            {below.map(draw)}
        </div>
    );
}

export function App() {
    if (!run.value)
        return runError.value ? (
            <main class="alone">
                <Messages />
                <Failed text={`The run cannot be shown: ${runError.value}`} retry={loadRun} />
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
            <Header />
            <Messages />
            <div class="body">
                <Candidates />
                <main>
                    <Detail />
                    <Views />
                </main>
            </div>
            <Help />
            <Tour />
        </>
    );
}
