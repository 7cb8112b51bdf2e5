// What colours mean, beside a drawing: the same rows as in the legend of a picture that is saved.
import { Key } from "../canvas/figure";

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
