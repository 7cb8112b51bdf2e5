// The page of a program that is live: how it stands, its points, its history, what is strange in
// which rank and region, what judges, and the records of what was strange.
import { useEffect } from "preact/hooks";
import { hearKeys } from "../state/keys";
import { liveError, looked, points, refresh, startLive, status } from "../state/live";
import { liveKeys } from "../state/live_keys";
import { Messages } from "./header";
import { LiveChosen, LiveHead, LiveTrouble } from "./live_head";
import { LiveHeat } from "./live_heat";
import { LiveHelp } from "./live_help";
import { LiveCounters } from "./live_counters";
import { LiveLooked } from "./live_looked";
import { LiveModelView } from "./live_model";
import { LivePointsView } from "./live_points_view";
import { LiveQuery } from "./live_query";
import { LiveRanking } from "./live_ranking";
import { Failed, Loading } from "./panel";

export function Live() {
    useEffect(() => {
        hearKeys(liveKeys);
        startLive();
    }, []);
    if (!status.value || !points.value)
        return (
            <main class="alone">
                <Messages />
                {liveError.value ? (
                    <Failed text={liveError.value} retry={refresh} />
                ) : (
                    <Loading what="what is live" />
                )}
            </main>
        );
    return (
        <>
            <LiveHead />
            <Messages />
            <LiveTrouble />
            <LiveChosen />
            <main class={`live${looked.value ? " is-looking" : ""}`}>
                <LivePointsView />
                <LiveHeat />
                <LiveQuery />
                <LiveLooked />
                <LiveRanking />
                <LiveModelView />
                <LiveCounters />
            </main>
            <LiveHelp />
        </>
    );
}
