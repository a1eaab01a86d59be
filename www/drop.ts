// A drop anywhere on the page opens what was dropped.
import {collect} from './open';
import {openDropped} from './session';
import {set} from './state';

export function listenToDrops(): void {
  let inside = 0;
  const shown = (dragging: boolean): void => set({dragging});
  addEventListener('dragenter', event => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    if (inside++ === 0) shown(true);
  });
  addEventListener('dragover', event => {
    if (hasFiles(event)) event.preventDefault();
  });
  addEventListener('dragleave', event => {
    if (!hasFiles(event)) return;
    inside = Math.max(0, inside - 1);
    if (inside === 0) shown(false);
  });
  addEventListener('drop', event => {
    event.preventDefault();
    inside = 0;
    shown(false);
    if (event.dataTransfer !== null) void openDropped(collect(event.dataTransfer));
  });
}

const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') ?? false;
