// What the timeline shows now, for what is saved and searched.
import { signal } from "@preact/signals";

export interface WindowShown {
    begin: number;
    end: number;
    locations: number[];
    asked: number[]; /* of these; the others are threads that are unfolded, or pinned */
}

export const windowShown = signal<WindowShown | null>(null);
