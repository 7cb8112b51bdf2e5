// How scores are learnt from labels, and points placed: what holds, and what a person chose in its place until it is
// used. What the newest retrain of this page changed, and by which labels.
import { signal } from "@preact/signals";
import { getJson } from "../api/http";
import { Learning, Retrained } from "../api/types";
import { queryOf } from "./query";
import { foiShown, scoresVersion } from "./store";

export const isLearningOpen = signal(false);

/* Of the function that is shown; another retrain, and it is that one's. */
export const learningQuery = queryOf<Learning>(() => {
    const id = foiShown.value;
    if (id === undefined || !isLearningOpen.value) return null;
    return {
        about: `learning ${id}`,
        version: scoresVersion.value,
        ask: (abort) => getJson(`/fois/${id}/learning`, abort),
    };
});

export interface Settings {
    learner: string;
    features: string;
    gamma: number | null; /* null: taken from the data */
    nu: number;
}

/* A number that was typed; null: none that can be used. */
export function typedNumber(text: string, most: number): number | null {
    const value = Number(text);
    return text.trim() !== "" && value > 0 && value <= most ? value : null;
}

export const lastRetrain = signal<{ foi: number; done: Retrained } | null>(null);
