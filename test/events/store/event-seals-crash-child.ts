import { writeSync } from 'node:fs';
import { openReader } from '../../../src/store/reader.ts';
import { openStore } from '../../../src/store/writer.ts';
import { batchOf } from '../../store/opened.ts';
import { blockOf, openSealer } from './sealing.ts';

/** Stores events while they are sealed; prints the number of acknowledged events. */
const [dataDir] = process.argv.slice(2);
const store = openStore({ dataDir: dataDir!, alertWindowMs: 3_600_000 });
const reader = openReader(dataDir!);
await openSealer(store, reader, 1);
for (;;) {
  const { blocks } = await store.commit(batchOf([], { blocks: [blockOf('network', 100)] }));
  writeSync(1, `${blocks[0]!.rows}\n`);
}
