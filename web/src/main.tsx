// Starts the page: the URL first, so that what is asked of the server is what the link says.
import { render } from "preact";
import "./theme.css";
import "./style.css";
import "./drawing.css";
import "./live.css";
import "./query.css";
import "./compared.css";
import "./compared_drawing.css";
import { listenToKeys } from "./state/key_table";
import { runKeys } from "./state/keys";
import { keepUrl } from "./state/link";
import { keepOrder } from "./state/acts";
import { pairAsked } from "./state/compared_timelines";
import { looked } from "./state/live";
import { leaveEmptyFilter, selectFirst } from "./state/list";
import { startLoading } from "./state/load";
import {
    area,
    chosenCall,
    chosenCollective,
    chosenMessage,
    foiId,
    lassoed,
    notice,
    selected,
} from "./state/store";
import { listenForClicks, startTourOnce } from "./state/overlays";
import { App } from "./views/app";

keepUrl();
keepOrder(
    [
        selected,
        chosenCall,
        chosenMessage,
        chosenCollective,
        area,
        lassoed,
        foiId,
        pairAsked,
        looked,
    ],
    (error) =>
        (notice.value = { text: `It cannot be shown: ${error.message}.`, isError: true }),
);
startLoading();
selectFirst();
leaveEmptyFilter();
listenToKeys(runKeys);
listenForClicks();
startTourOnce();
const root = document.getElementById("page")!;
root.textContent = "";
render(<App />, root);
