// What the timeline shows now, for what is saved and searched.
import { signal } from "@preact/signals";

export interface WindowShown {
    begin: number;
    end: number;
    locations: number[];
}

export const windowShown = signal<WindowShown | null>(null);
