/**
 * A minimal server for comparison: one thread, node:http, JSON.parse for each line, one LMDB put for each event, a
 * response once the puts are flushed. It does not validate, normalise, index or detect anything.
 */
import { createServer } from 'node:http';
import { openDatabase } from '../../src/database/lmdb.ts';

const path = process.argv[2];
if (path === undefined) throw new Error('usage: plain-server.ts DATABASE-FILE');
const events = openDatabase(path).openDB<Record<string, unknown>, number>({ name: 'events' });
let next = 1;

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const lines = Buffer.concat(chunks).toString('utf8').split('\n');
  let accepted = 0;
  events.transactionSync(() => {
    for (const line of lines) {
      if (line === '') continue;
      events.putSync(next++, JSON.parse(line));
      accepted++;
    }
  });
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ data: { accepted } }));
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(JSON.stringify({ msg: 'listening', port: typeof address === 'object' ? address?.port : undefined }));
});
