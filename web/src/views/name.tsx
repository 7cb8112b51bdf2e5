// Names of other people's functions: however long, they fill no view; from whichever side they are read, what stands beside
// them stays where it is.
import { foldMiddle, isolate, numbersApart, pieces } from "../format/name_text";

/* A text whose long names go on in the next line where their words meet. */
function Pieces({ of }: { of: string }) {
    return (
        <>
            {pieces(of).map((piece, i) => (
                <>
                    {i > 0 && <wbr />}
                    {piece}
                </>
            ))}
        </>
    );
}

export function Name({ of }: { of: string }) {
    const shown = foldMiddle(of);
    return (
        <bdi title={shown === of ? undefined : of}>
            <Pieces of={shown} />
        </bdi>
    );
}

/* A sentence with names in it. */
export function Sentence({ of }: { of: string }) {
    return (
        <>
            {numbersApart(isolate(of)).map((part, i) =>
                i % 2 ? <span class="with-unit">{part}</span> : <Pieces of={part} />,
            )}
        </>
    );
}

/* Of a call path: "step > solve". */
export function PathNames({ of }: { of: readonly string[] }) {
    return (
        <>
            {of.map((name, k) => (
                <>
                    {k > 0 && " > "}
                    <Name of={name} />
                </>
            ))}
        </>
    );
}
