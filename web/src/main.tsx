// Starts the page: the URL first, so that what is asked of the server is what the link says.
import { render } from "preact";
import "./theme.css";
import "./style.css";
import "./drawing.css";
import "./live.css";
import "./compared.css";
import "./compared_drawing.css";
import { listenToKeys } from "./state/keys";
import { keepUrl } from "./state/link";
import { startLoading } from "./state/load";
import { listenForClicks, startTourOnce } from "./state/overlays";
import { App } from "./views/app";

keepUrl();
startLoading();
listenToKeys();
listenForClicks();
startTourOnce();
const root = document.getElementById("page")!;
root.textContent = "";
render(<App />, root);
