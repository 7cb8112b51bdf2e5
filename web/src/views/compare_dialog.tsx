// How to compare the run with another one. The server of a run reads no other: it is a command, here to be copied.
import { useState } from "preact/hooks";
import { copyText } from "../state/clipboard";
import { isCompareOpen } from "../state/overlays";
import { run } from "../state/store";
import { Dialog } from "./dialog";

/* As a shell reads it as one word. */
export function quoted(word: string): string {
    return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

function Command({ text, says }: { text: string; says: string }) {
    return (
        <p class="command">
            <span>{says}</span>
            <code>{text}</code>
            <button
                onClick={() => copyText(text, "The command", "select it and copy it by hand")}
                aria-label={`Copy: ${text}`}
            >
                Copy
            </button>
        </p>
    );
}

export function CompareDialog() {
    const [other, setOther] = useState("");
    const of = run.value?.path ?? run.value?.name ?? "";
    const [name, before] = [quoted(of), quoted(other.trim() || "OTHER.snag")];
    return (
        <Dialog name="compare" label="Compare with another run" isOpen={isCompareOpen}>
            <h2>Compare with another run</h2>
            <p>
                This server reads this run and no other. These commands compare the two, where{" "}
                <code>snag serve</code> was started; the run named first is the one before.
            </p>
            <label>
                Run, trace or history to compare with{" "}
                <input
                    type="text"
                    autofocus
                    placeholder="OTHER.snag"
                    value={other}
                    onInput={(e) => setOther(e.currentTarget.value)}
                />
            </label>
            <Command text={`snag compare ${before} ${name}`} says="What changed, as text" />
            <Command text={`snag serve ${before} ${name}`} says="The same, as a page" />
            <p class="buttons">
                <button onClick={() => (isCompareOpen.value = false)}>Close</button>
            </p>
        </Dialog>
    );
}
