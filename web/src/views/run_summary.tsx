// The first thing to read: who is slow always, if that costs most; how many anomalies there are, what they cost the run,
// and what most of that goes back to.
import { ComponentChildren } from "preact";
import { outcomeWords } from "../format/outcome_words";
import { formatCount, plural } from "../format/units";
import { isFiltered } from "../state/filtered";
import { showView } from "../state/shown_views";
import { foi } from "../state/store";
import { Sentence } from "./name";

/* children: the function of interest. What is too long for two lines, or three where somebody is slow always, is in the title. */
export function RunSummary({ children }: { children: ComponentChildren }) {
    const of = foi.value;
    if (!of) return null;
    const { before, behind, whole } = outcomeWords(of);
    return (
        <p class={before ? "run-summary with-slow" : "run-summary"} title={whole}>
            {before && (
                <>
                    <button class="to-ranks" onClick={() => showView("ranks")}>
                        <Sentence of={before} />
                    </button>{" "}
                </>
            )}
            <span class="headline">
                {isFiltered.value && <span class="dim">Whole run: </span>}
                <b>{plural(of.anomalies, "anomaly", "anomalies")}</b> in {formatCount(of.trees)}{" "}
                executions of {children}.
            </span>{" "}
            <Sentence of={behind} />
        </p>
    );
}
