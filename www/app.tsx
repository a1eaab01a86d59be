// The page's entry: starts the engine and the drawing, listens, and renders the state.
import {render} from 'preact';
import {syncBlocks} from './blocks';
import {startDrawing} from './draw';
import {isSaved} from './embedded';
import {listenToDrops} from './drop';
import {startEmbedding} from './embed/embed';
import {syncFilter} from './filter';
import {syncFrames, syncLanes} from './frames';
import {listenToHash, syncHash} from './hash';
import {syncJax} from './jax';
import {hostAtFirst, startWorker} from './isolation';
import {listenToKeys} from './keys';
import {syncChosen} from './narrow';
import {syncPanels} from './panels';
import {syncPeakLines} from './peak-lines';
import {PARAMETERS} from './parameters';
import {syncSearch} from './search';
import {openSaved, startEngine} from './session';
import {get, set, subscribe} from './state';
import {onThemeChange, wear} from './theme';
import {App} from './views/App';

/** A hidden page gets no animation frames, but its state goes on. */
const HIDDEN_MS = 200;

let scheduled = false;

function schedule(): void {
  if (scheduled) return;
  scheduled = true;
  if (document.hidden) setTimeout(draw, HIDDEN_MS);
  else requestAnimationFrame(draw);
}

function draw(): void {
  scheduled = false;
  const root = document.getElementById('app');
  document.documentElement.lang = get().locale;
  if (root !== null) render(<App s={get()} />, root);
}

document.getElementById('incomplete')?.remove();
subscribe(schedule);
subscribe(syncFrames);
subscribe(syncLanes);
subscribe(syncSearch);
subscribe(syncHash);
subscribe(syncPanels);
subscribe(syncPeakLines);
subscribe(syncBlocks);
subscribe(syncJax);
subscribe(syncFilter);
subscribe(syncChosen);
onThemeChange(() => set({theme: wear(get().themeChoice)}));
listenToDrops();
listenToKeys();
listenToHash();
if (PARAMETERS.embed) document.documentElement.dataset.embed = '';
set({host: hostAtFirst()});
draw();
startEmbedding();
void startEngine();
if (isSaved()) void openSaved();
void startDrawing();
void startWorker();
