// Names of other people's functions: however long, they fill no view; from whichever side they are read, what stands beside
// them stays where it is.
import { foldMiddle } from "../format/name_text";

export function Name({ of }: { of: string }) {
    const shown = foldMiddle(of);
    return <bdi title={shown === of ? undefined : of}>{shown}</bdi>;
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
