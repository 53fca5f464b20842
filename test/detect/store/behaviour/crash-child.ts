/**
 * Commits batches into a folder until the process is killed, and prints a line for each acknowledged batch.
 */
import { writeSync } from 'node:fs';
import { BlockBuilder } from '../../../../src/events/format/block-builder.ts';
import { openStore } from '../../../../src/store/writer.ts';
import { batchOf, hour, start } from '../../../store/opened.ts';
import { networkRecord } from '../../../store/records.ts';
import { EveryFifth } from './every-fifth.ts';

const [dataDir = ''] = process.argv.slice(2);
const store = openStore({
  dataDir,
  alertWindowMs: hour,
  clock: () => start,
  detectors: () => [new EveryFifth()],
  eventsPerDetectorState: 150,
});
for (let n = 0; ; n++) {
  const network = new BlockBuilder('network', start);
  for (let i = 0; i < 1 + ((n * 7) % 90); i++)
    network.add(networkRecord({ timestamp: start - i, src_ip: `192.0.2.${(n + i) % 11}` }));
  await store.commit(batchOf([], { blocks: [network.finish()] }));
  writeSync(1, `${n}\n`);
}
