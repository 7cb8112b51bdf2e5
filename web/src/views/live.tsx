// The page of a program that is live: how it stands, its points, its history, what is strange in
// which rank and region, what judges, and the records of what was strange.
import { useEffect } from "preact/hooks";
import { points, startLive, status } from "../state/live";
import { Messages } from "./header";
import { LiveHead } from "./live_head";
import { LiveHeat } from "./live_heat";
import { LiveCounters } from "./live_counters";
import { LiveLooked } from "./live_looked";
import { LiveModelView } from "./live_model";
import { LivePointsView } from "./live_points_view";
import { LiveQuery } from "./live_query";
import { LiveRanking } from "./live_ranking";
import { Loading } from "./panel";

export function Live() {
    useEffect(startLive, []);
    if (!status.value || !points.value)
        return (
            <main class="alone">
                <Messages />
                <Loading what="what is live" />
            </main>
        );
    return (
        <>
            <LiveHead />
            <Messages />
            <main class="live">
                <LivePointsView />
                <LiveRanking />
                <LiveHeat />
                <LiveModelView />
                <LiveLooked />
                <LiveQuery />
                <LiveCounters />
            </main>
        </>
    );
}
