// What the server tells by itself: labels that changed, retrains, points that move. When the
// connection breaks, it is tried again until the server is back.
import { effect } from "@preact/signals";
import { apiUrl, goOffline, isOnline } from "./http";
import { LiveStep } from "./live_types";
import { ProjectionState } from "./types";

interface Listener {
    labels(foi: number): void;
    retrain(foi: number): void;
    projection(state: ProjectionState): void;
}

const retryMs = 2000;

interface LiveListener {
    step(step: LiveStep): void;
    over(step: LiveStep): void;
}

function hear(takers: Record<string, (data: any) => void>): void {
    const source = new EventSource(apiUrl("/events"));
    for (const [name, take] of Object.entries(takers))
        source.addEventListener(name, (event) =>
            take(JSON.parse((event as MessageEvent).data)),
        );
    source.onerror = () => {
        // A browser gives up on an error page, not on a refused connection: here, always retry.
        source.close();
        goOffline();
        setTimeout(() => hear(takers), retryMs);
    };
}

export function listen(listener: Listener): void {
    hear({
        labels: (data) => listener.labels(data.foi),
        retrain: (data) => listener.retrain(data.foi),
        projection: (data) => listener.projection(data),
    });
}

export function listenLive({ step, over }: LiveListener): void {
    hear({ step, over });
}

/* While the server does not answer it is asked again; `back` is called when it does. */
export function watchConnection(on: { probe: () => Promise<unknown>; back: () => void }): void {
    const ask = () => on.probe().then(on.back, () => setTimeout(ask, retryMs));
    let isAsking = false;
    effect(() => {
        if (!isOnline.value && !isAsking) setTimeout(ask, retryMs);
        isAsking = !isOnline.value;
    });
}
