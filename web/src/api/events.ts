// What the server tells by itself: labels that changed, retrains, points that move. When the
// connection breaks, it is tried again until the server is back.
import { apiUrl, isOnline } from "./http";
import { ProjectionState } from "./types";

export interface Listener {
    labels(foi: number): void;
    retrain(foi: number): void;
    projection(state: ProjectionState): void;
    back(): void; /* the server can be reached again */
}

const retryMs = 2000;

export function listen(listener: Listener): void {
    const source = new EventSource(apiUrl("/events"));
    const on = (name: string, take: (data: any) => void) =>
        source.addEventListener(name, (event) => take(JSON.parse((event as MessageEvent).data)));
    on("labels", (data) => listener.labels(data.foi));
    on("retrain", (data) => listener.retrain(data.foi));
    on("projection", (data) => listener.projection(data));
    source.onopen = () => {
        const wasOffline = !isOnline.value;
        isOnline.value = true;
        if (wasOffline) listener.back();
    };
    source.onerror = () => {
        // A browser gives up on an error page, not on a refused connection: here, always retry.
        source.close();
        isOnline.value = false;
        setTimeout(() => listen(listener), retryMs);
    };
}
