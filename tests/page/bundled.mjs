// A module of the page without a DOM, for Node.
import {bundleScript} from '../../www/build/bundle.mjs';

export const load = async entry => {
  const script = await bundleScript(entry, {format: 'esm'});
  return import(`data:text/javascript,${encodeURIComponent(script)}`);
};
