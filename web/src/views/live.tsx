// The page of a program that is live: how it stands, its points, its history, what is strange in
// which rank and region, what judges, and the records of what was strange.
import { useEffect } from "preact/hooks";
import { hearKeys } from "../state/key_table";
import { liveError, looked, startLive, status, statusQuery } from "../state/live";
import { liveKeys } from "../state/live_keys";
import { Messages } from "./header";
import { Arrange, below, beside, FixedPanes, FixedView, pane } from "./fixed_panes";
import { LiveChosen, LiveHead, LiveTrouble } from "./live_head";
import { LiveHeat } from "./live_heat";
import { LiveHelp } from "./live_help";
import { countersRead, LiveCounters } from "./live_counters";
import { LiveLooked } from "./live_looked";
import { LiveModelView } from "./live_model";
import { LivePointsView } from "./live_points_view";
import { LiveQuery } from "./live_query";
import { LiveRanking } from "./live_ranking";
import { Failed, Loading } from "./panel";
import { SkipLinks } from "./skip_links";

const lookedHeight = 27; /* rem, of a call with its record; of the hint in its place: */
const hintHeight = 6.2;

/* Its table, if that is no longer than others. */
const countersHeight = () =>
    Math.min(18, (countersRead.value ? 4.5 : 4) + 2 * countersRead.value);

function panesOf(isLooking: boolean): FixedView[] {
    const callHeight = isLooking ? lookedHeight : hintHeight;
    return [
        { name: "points", title: "Points", least: 23, view: <LivePointsView /> },
        { name: "heat", title: "History", least: 16, view: <LiveHeat /> },
        { name: "query", title: "Records", least: 20, view: <LiveQuery /> },
        { name: "looked", title: "Call", least: callHeight, view: <LiveLooked /> },
        { name: "ranking", title: "Ranks and regions", least: 20, view: <LiveRanking /> },
        { name: "model", title: "Model", least: 20, view: <LiveModelView /> },
        {
            name: "counters",
            title: "Counters",
            least: countersHeight(),
            view: <LiveCounters />,
        },
    ];
}

const points = () => below(pane("points", 5, 15), pane("heat", 2, 10));
const arrange: Arrange = (room) => {
    const callHeight = looked.value ? lookedHeight : hintHeight;
    const call = pane("looked", 0, callHeight);
    const counters = pane("counters", 0, countersHeight());
    if (room === "wide")
        return [
            pane(
                beside(
                    pane(points(), 5),
                    pane("query", 3),
                    pane(below(pane("ranking", 3, 12), pane("model", 2, 12)), 3),
                ),
                1,
                30,
            ),
            call,
            counters,
        ];
    return [
        pane(beside(pane(points(), 3), pane("query", 2)), 5, 25),
        call,
        pane(beside(pane("ranking", 3), pane("model", 2)), 3, 15),
        counters,
    ];
};

export function Live() {
    useEffect(() => {
        hearKeys(liveKeys);
        startLive();
    }, []);
    if (!status.value)
        return (
            <main class="alone">
                <Messages />
                {liveError.value ? (
                    <Failed text={liveError.value} retry={statusQuery.answer.value.retry} />
                ) : (
                    <Loading what="what is live" />
                )}
            </main>
        );
    return (
        <>
            <SkipLinks
                to={[
                    { to: "view-points", says: "To the points" },
                    { to: "view-query", says: "To the records" },
                    { to: "view-looked", says: "To the call" },
                ]}
            />
            <LiveHead />
            <Messages />
            <LiveTrouble />
            <LiveChosen />
            <FixedPanes page="live" arrange={arrange} views={panesOf(looked.value !== null)} />
            <LiveHelp />
        </>
    );
}
