// What lies over the page: the help, and the tour that a person sees once.
import { signal } from "@preact/signals";

export const isHelpOpen = signal(false);
export const tourStep = signal<number | null>(null); /* null: no tour */

const key = "snag-tour-seen";

export function startTourOnce(): void {
    try {
        if (!localStorage.getItem(key)) tourStep.value = 0;
    } catch {
        /* a browser that keeps nothing would show it every time: better never */
    }
}

export function endTour(): void {
    tourStep.value = null;
    try {
        localStorage.setItem(key, "1");
    } catch {
        /* see above */
    }
}
