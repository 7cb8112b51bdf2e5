// Starts a report: its figures, which snag report left empty, are drawn from the answers in it.
import { render } from "preact";
import "../theme.css";
import "../drawing.css";
import "../compared_drawing.css";
import "./report.css";
import { Region, Run } from "../api/types";
import { regions, run, theme } from "../state/store";
import { Drawing } from "./drawings";
import { keptJson } from "./kept";

const kept = keptJson<Region[]>("/regions") ?? [];
regions.value = new Map(kept.map((region) => [region.id, region]));
run.value = keptJson<Run>("/run");
document.querySelectorAll<HTMLElement>("figure[data-view]").forEach((figure, number) => {
    const { view, of } = figure.dataset;
    const box = document.createElement("div");
    figure.prepend(box);
    render(<Drawing view={view!} address={of!} number={number} />, box);
    figure.classList.add("drawn");
});

// Paper is light.
let onScreen = theme.value;
addEventListener("beforeprint", () => {
    onScreen = theme.value;
    theme.value = "light";
});
addEventListener("afterprint", () => (theme.value = onScreen));
