// What the server tells by itself: labels that changed, retrains, points that move. When the
// connection breaks, it is tried again until the server is back.
import { effect } from "@preact/signals";
import { apiUrl, isOnline } from "./http";
import { ProjectionState } from "./types";

export interface Listener {
    labels(foi: number): void;
    retrain(foi: number): void;
    projection(state: ProjectionState): void;
}

const retryMs = 2000;

export function listen(listener: Listener): void {
    const source = new EventSource(apiUrl("/events"));
    const on = (name: string, take: (data: any) => void) =>
        source.addEventListener(name, (event) =>
            take(JSON.parse((event as MessageEvent).data)),
        );
    on("labels", (data) => listener.labels(data.foi));
    on("retrain", (data) => listener.retrain(data.foi));
    on("projection", (data) => listener.projection(data));
    source.onerror = () => {
        // A browser gives up on an error page, not on a refused connection: here, always retry.
        source.close();
        isOnline.value = false;
        setTimeout(() => listen(listener), retryMs);
    };
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
