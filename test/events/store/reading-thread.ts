import { parentPort, workerData } from 'node:worker_threads';
import { openDatabase } from '../../../src/database/lmdb.ts';
import { parseEventId } from '../../../src/events/event-id.ts';
import { EventStore } from '../../../src/events/store/event-store.ts';

/**
 * Reads a store repeatedly while another thread writes to it and merges blocks, until the store has `last`
 * events. Every read must show one snapshot, with all sequences from 1 to the total, each once. Posts the
 * number of reads and the errors.
 */
const { path, last } = workerData as { path: string; last: number };
const env = openDatabase(path, { readOnly: true });
const events = new EventStore(env);
const wrong: string[] = [];
let reads = 0;

function read(): void {
  const { json, total } = events.list({
    table: 'network',
    filter: { terms: [] },
    order: 'asc',
    per_page: 1_000_000,
    page: 1,
  });
  const resources = JSON.parse(new TextDecoder().decode(json)) as {
    id: string;
    attributes: { connection_id: string };
  }[];
  const seqs = resources.map(({ id }) => parseEventId(id)!.seq).sort((a, b) => a - b);
  if (seqs.length !== total || seqs.some((seq, i) => seq !== i + 1)) wrong.push(`${seqs.length} events of ${total}`);
  for (const { id, attributes } of resources) {
    const seq = parseEventId(id)!.seq;
    if (attributes.connection_id !== `C${seq}`) wrong.push(`event ${seq} is ${attributes.connection_id}`);
  }
  reads++;
  if (total < last && wrong.length === 0) setImmediate(read);
  else parentPort!.postMessage({ reads, wrong });
}

parentPort!.postMessage('ready');
read();
