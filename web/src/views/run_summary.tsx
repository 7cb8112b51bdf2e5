// The first thing to read: how many anomalies, what they cost the run, and what most of that goes back to.
import { ComponentChildren } from "preact";
import { outcomeWords } from "../format/outcome_words";
import { formatCount, plural } from "../format/units";
import { foi } from "../state/store";

/* children: the function of interest. What is too long for two lines is in the title. */
export function RunSummary({ children }: { children: ComponentChildren }) {
    const of = foi.value;
    if (!of) return null;
    const words = outcomeWords(of);
    const slow = of.outcome.slow ? ` ${of.outcome.slow.place}: ${of.outcome.slow.why}.` : "";
    return (
        <p class="run-summary" title={`${words}${slow}`}>
            <span class="headline">
                <b>{plural(of.anomalies, "anomaly", "anomalies")}</b> in {formatCount(of.trees)}{" "}
                executions of {children}.
            </span>{" "}
            {words}
        </p>
    );
}
