// Starts the page: the URL first, so that what is asked of the server is what the link says.
import { render } from "preact";
import "./style.css";
import "./live.css";
import { listenToKeys } from "./state/keys";
import { keepUrl } from "./state/link";
import { startLoading } from "./state/load";
import { startTourOnce } from "./state/overlays";
import { App } from "./views/app";

keepUrl();
startLoading();
listenToKeys();
startTourOnce();
const root = document.getElementById("page")!;
root.textContent = "";
render(<App />, root);
