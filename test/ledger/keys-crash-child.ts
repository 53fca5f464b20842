/**
 * A process that rotates or revokes the tree-head key and kills itself at a step:
 * `node keys-crash-child.ts <data folder> rotate|revoke <step>`.
 */
import { openLedger } from '../../src/ledger/open.ts';

const [dataDir = '', change = '', step = ''] = process.argv.slice(2);
let armed = false;
const ledger = await openLedger({
  dataDir,
  keyPassphrase: 'correct horse',
  hooks: {
    at(here) {
      if (armed && here === step) process.kill(process.pid, 'SIGKILL');
    },
  },
});
armed = true;
const { signer_key_id: kid } = await ledger.head();
if (change === 'rotate') await ledger.rotateKey('transparency-sth', 'ann');
else await ledger.revokeKey(kid, 'stolen', 'ann');
