import { afterAll, describe, expect, it } from 'vitest';
import { unpackDerived } from '../../src/events/derived-data.ts';
import type { IngestInput } from '../../src/ingest/parse-body.ts';
import { createPool } from '../../src/rpc/pool.ts';
import type { IngestTasks } from '../../workers/ingest.ts';
import { events, home, receivedAt } from './ingesting.ts';

const pool = createPool<IngestTasks>({
  url: new URL('../../workers/ingest.ts', import.meta.url),
  name: 'ingest',
  threads: 1,
  maxQueue: 2,
});
afterAll(() => pool.close());

const input = (text: string, more: Partial<IngestInput> = {}): IngestInput => {
  const body = new TextEncoder().encode(text).buffer;
  return {
    pieces: [body],
    length: body.byteLength,
    mediaType: 'ndjson',
    receivedAt,
    home,
    digest: false,
    ...more,
  };
};

describe('the ingest worker', () => {
  it('accepts bodies, and returns blocks, findings and the buffers of the bodies', async () => {
    const line = '{"ts":1,"note":"Scan::Port_Scan","msg":"m","src":"198.51.100.1","dst":"10.0.0.1"}';
    const sent = input(line);
    const { groups, places } = await pool.run('ingest', { bodies: [sent] });
    const [group] = groups;
    expect(places).toEqual([{ group: 0, body: 0 }]);
    expect(sent.pieces[0]!.detached).toBe(true);
    expect(group!.bodies[0]!.spent.map(({ byteLength }) => byteLength)).toEqual([line.length]);
    expect(events(group!)).toMatchObject([{ src_ip: '198.51.100.1', severity: 'medium' }]);
    expect(unpackDerived(group!).findings).toMatchObject([{ rule_id: 'Scan::Port_Scan', event: { block: 0, row: 0 } }]);
  });

  it('reports an invalid body by its code, and continues', async () => {
    const bodies = [input('x', { encoding: 'gzip' }), input('x')];
    const { groups, places } = await pool.run('ingest', { bodies });
    expect(places).toMatchObject([
      { fault: { code: 'INVALID_REQUEST', details: { field: 'body' } } },
      { group: 0, body: 0 },
    ]);
    expect(groups[0]!.bodies[0]!.answer).toMatchObject({ accepted: 0, rejected: 1 });
  });
});
