// The column beside the views: the selected execution, and below it why it is strange, or what is chosen in the
// timeline. So neither takes height from the lanes. Where views are stacked, each of these has a place of its own.
import { arrowTitles } from "../format/arrow_words";
import { isChosenInFront, showChosen, showView } from "../state/shown_views";
import { area, chosen, chosenCollective, chosenMessage, views } from "../state/store";
import { viewRow } from "../state/views";
import { Detail } from "./detail";
import { Frame, Tabs } from "./panel";
import { Chosen } from "./timeline_chosen";
import { Why } from "./why";

function chosenTitle(): string {
    if (area.value) return "Area";
    if (chosenMessage.value) return arrowTitles[chosenMessage.value.kind];
    return chosenCollective.value ? "Collective" : "Call";
}

export function ChosenPanel() {
    return (
        <Frame name="chosen" class="panel-chosen" title={chosenTitle()} label="What is chosen">
            <Chosen />
        </Frame>
    );
}

export function Details() {
    const hasWhy = views.value.includes("why");
    const isChosen = isChosenInFront.value || (!hasWhy && chosen.value !== null);
    const tabs = [
        {
            name: "why",
            title: viewRow("why").title,
            isFront: !isChosen,
            show: () => showView("why"),
        },
        {
            name: "chosen",
            title: chosenTitle(),
            isFront: isChosen,
            show: () => showChosen(true),
        },
    ];
    return (
        <div class="details">
            <Detail />
            <Tabs.Provider value={hasWhy && chosen.value ? tabs : []}>
                {isChosen ? <ChosenPanel /> : hasWhy && <Why />}
            </Tabs.Provider>
        </div>
    );
}
