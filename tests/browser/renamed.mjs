// Captures made for this project with names that a test chooses.
import fs from 'node:fs';
import path from 'node:path';
import {changed} from '../../fixtures/protobuf.mjs';
import {fixture} from './harness.mjs';

const ASCEND = 'ascend_sample/actor_update/npu-node-01_437600_20260526085155954_ascend_pt';
const XPLANE = 'xplane_attention_oom/attention_oom.xplane.pb';

const quoted = name => `"${name.replaceAll('"', '""')}"`;
const changeFile = (file, change) => fs.writeFileSync(file, change(fs.readFileSync(file, 'utf8')));

/**
 * The worst rank of the sample as the folder `to`. `operator` names the nth operator of the table, every time that it is asked for a row of it;
 * the trace names it alike. `event` may change the nth event of the trace besides, and `metadata` is added to the profiler's.
 */
export const renamedAscend = (to, {operator, event, metadata}) => {
  fs.cpSync(fixture(ASCEND), to, {recursive: true});
  const nths = new Map();
  const nameOf = given => {
    if (!nths.has(given)) nths.set(given, nths.size);
    return operator(nths.get(given), given);
  };
  changeFile(path.join(to, 'ASCEND_PROFILER_OUTPUT/operator_memory.csv'), text => {
    const [header, ...rows] = text.split('\n');
    return [header, ...rows.map(row => row.includes(',') ? `${quoted(nameOf(row.slice(0, row.indexOf(','))))}${row.slice(row.indexOf(','))}` : row)].join('\n');
  });
  changeFile(path.join(to, 'ASCEND_PROFILER_OUTPUT/trace_view.json'), text => {
    const events = JSON.parse(text);
    for (const [nth, each] of events.entries()) {
      if (nths.has(each.name)) each.name = nameOf(each.name);
      event(each, nth);
    }
    return JSON.stringify(events);
  });
  changeFile(path.join(to, 'profiler_metadata.json'), text => JSON.stringify({...JSON.parse(text), ...metadata}));
  return to;
};

/** The JAX capture as the file `to`, with changes to the programs (HloProto) in it. */
export const renamedXplane = (to, hlo) => {
  const program = bytes => {
    try {
      return changed(bytes, hlo);
    } catch {
      return bytes;
    }
  };
  // XSpace.planes, XPlane.event_metadata, its map's value, XEventMetadata.stats, XStat.bytes_value.
  fs.writeFileSync(to, changed(fs.readFileSync(fixture(XPLANE)), {1: {4: {2: {5: {6: program}}}}}));
  return to;
};
