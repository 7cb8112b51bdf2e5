// What colours mean, beside a drawing: the same rows as in the legend of a picture that is saved.
import { ComponentChildren } from "preact";
import { Key } from "../canvas/figure";

/* One line below a drawing, as the height is for what is drawn: what is longer is scrolled to. */
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

export function LegendKeys({ keys }: { keys: Key[] }) {
    return (
        <>
            {keys.map(({ colour, odd, text }) => (
                <span key={text}>
                    <svg viewBox="0 0 2 1" aria-hidden="true">
                        <rect width={odd ? 1 : 2} height="1" fill={colour} />
                        {odd && <rect x="1" width="1" height="1" fill={odd} />}
                    </svg>{" "}
                    {text}
                </span>
            ))}
        </>
    );
}
