// What is inside the page as a bill of materials: CycloneDX 1.6, on standard output. The same sources give the same bytes.
import fs from 'node:fs';
import {fileURLToPath} from 'node:url';
import {inside} from './licences.mjs';

const KINDS = {crate: 'cargo', module: 'npm', standard: 'generic'};

const component = ({name, version, licence, kind}) => ({
  type: 'library',
  'bom-ref': `pkg:${KINDS[kind]}/${encodeURIComponent(name)}@${version}`,
  name,
  version,
  licenses: [{expression: licence}],
  purl: `pkg:${KINDS[kind]}/${encodeURIComponent(name)}@${version}`,
});

export const sbom = async () => {
  const version = /^version = "(.*)"$/m.exec(fs.readFileSync('Cargo.toml', 'utf8'))[1];
  const bom = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {component: {type: 'application', name: 'oomscope', version, licenses: [{expression: 'Apache-2.0'}]}},
    components: (await inside()).map(component),
  };
  return `${JSON.stringify(bom, null, 2)}\n`;
};

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(await sbom());
