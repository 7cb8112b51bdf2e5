// What colours mean, beside a drawing: the same rows as in the legend of a picture that is saved.
import { ComponentChildren } from "preact";
import { Key } from "../canvas/figure";

/* A few lines below a drawing, as the height is for what is drawn: what is longer is scrolled to. */
export function Legend({ of, children }: { of: string; children: ComponentChildren }) {
    return (
        <p
            class="legend kinds-legend"
            aria-label={`Colours of ${of}`}
            role="group"
            tabIndex={0}
        >
            {children}
        </p>
    );
}

/* "own code: a.c", and beside it just "b.c". */
function shortText(keys: Key[], i: number): string {
    const { text } = keys[i];
    const kind = text.slice(0, text.indexOf(": ") + 2);
    return i > 0 && text.includes(": ") && keys[i - 1].text.startsWith(kind)
        ? text.slice(kind.length)
        : text;
}

export function LegendKeys({ keys }: { keys: Key[] }) {
    return (
        <>
            {keys.map(({ colour, odd, text }, i) => (
                <span key={text}>
                    <svg viewBox="0 0 2 1" aria-hidden="true">
                        <rect width={odd ? 1 : 2} height="1" fill={colour} />
                        {odd && <rect x="1" width="1" height="1" fill={odd} />}
                    </svg>
                    {`\u00a0${shortText(keys, i)}`}
                </span>
            ))}
        </>
    );
}
