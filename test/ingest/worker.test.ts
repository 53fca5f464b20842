import { afterAll, describe, expect, it } from 'vitest';
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
  it('takes the body, and gives blocks and findings back', async () => {
    const line = '{"ts":1,"note":"Scan::Port_Scan","msg":"m","src":"198.51.100.1","dst":"10.0.0.1"}';
    const sent = input(line);
    const parsed = await pool.run('ingest', sent);
    expect(sent.pieces[0]!.detached).toBe(true);
    expect(parsed.spent.map(({ byteLength }) => byteLength)).toEqual([line.length]);
    expect(events(parsed)).toMatchObject([{ src_ip: '198.51.100.1', severity: 'medium' }]);
    expect(parsed.findings).toMatchObject([{ rule_id: 'Scan::Port_Scan', event: { block: 0, row: 0 } }]);
  });

  it('fails with the code of what is wrong with the body, and goes on', async () => {
    await expect(pool.run('ingest', input('x', { encoding: 'gzip' }))).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      details: { field: 'body' },
    });
    expect((await pool.run('ingest', input('x'))).answer).toMatchObject({ accepted: 0, rejected: 1 });
  });
});
