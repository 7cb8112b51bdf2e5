// Names in the room there is: as much of a text as fits, measured, not guessed.
import { textWidth } from "./pictures";
import { isolate } from "../format/name_text";

export const nameFont = "11px system-ui, sans-serif"; /* as in style.css */

const known = new Map<string, number>();

function measured(text: string): number {
    let width = known.get(text);
    if (width === undefined) {
        if (known.size > 20000) known.clear();
        known.set(text, (width = textWidth(text, nameFont)));
    }
    return width;
}

/* The text, or its beginning and "…" where it is wider; "" where not even four letters fit. */
export function cutText(text: string, width: number, widthOf = measured): string {
    if (widthOf(text) <= width) return text;
    let fits = 0;
    let tooMany = text.length;
    while (tooMany - fits > 1) {
        const middle = (fits + tooMany) >> 1;
        if (widthOf(`${text.slice(0, middle)}…`) <= width) fits = middle;
        else tooMany = middle;
    }
    return fits >= 3 ? `${text.slice(0, fits)}…` : "";
}

/* The first of them that fits; of the last, which says least, the beginning. */
export function firstThatFits(texts: string[], width: number, widthOf = measured): string {
    return isolate(
        texts.find((text) => widthOf(text) <= width) ??
            cutText(texts[texts.length - 1], width, widthOf),
    );
}
