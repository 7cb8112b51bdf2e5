// What the keys W, A, S, D and F move: the view where the pointer or the focus was last; the timeline at first.
export interface Movable {
    zoom(factor: number): void;
    pan(share: number): void; /* of the width */
    fit(): void;
}

let offered: Movable | null = null;
let isPointed = false;
let timeline: Movable | null = null;

export function offerMovable(view: Movable): () => void {
    if (!isPointed) offered = view;
    return () => {
        if (offered === view) {
            offered = null;
            isPointed = false;
        }
    };
}

export function offerTimeline(view: Movable): () => void {
    timeline = view;
    return () => (timeline = null);
}

export function pointAt(view: Movable): void {
    offered = view;
    isPointed = true;
}

export function moved(): Movable | null {
    return isPointed ? offered : (timeline ?? offered);
}

export function hasTimeline(): boolean {
    return timeline !== null;
}
