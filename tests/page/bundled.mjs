// A module of the page without a DOM, for Node.
import {bundleScript} from '../../www/build/bundle.mjs';

/** An address that the module can be imported from. `change`: of its text, where a test wants it broken. */
export const addressOf = async (entry, change = text => text) => `data:text/javascript,${encodeURIComponent(change(await bundleScript(entry, {format: 'esm'})))}`;

export const load = async entry => import(await addressOf(entry));
