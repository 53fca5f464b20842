/** How long do queries over millions of stored events take? */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../src/database/lmdb.ts';
import { BlockBuilder } from '../src/events/format/block-builder.ts';
import type { EventFilter } from '../src/events/query/filter.ts';
import { EventStore } from '../src/events/store/event-store.ts';
import { connRecords, mulberry32 } from './conn-records.ts';
import type { BenchRow } from './result.ts';

const question = (events: number) => `Queries over ${events.toLocaleString('en')} stored events`;

export async function run(events = 5_000_000): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'candor-queries-'));
  try {
    const path = join(folder, 'siem.mdb');
    const writer = openDatabase(path);
    await fill(new EventStore(writer), writer, events);
    await writer.close();
    const bytes = statSync(path).size / events;
    return [
      { question: question(events), variant: 'file', value: bytes, unit: 'bytes/event' },
      ...(await measure(path, events)),
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function fill(store: EventStore, env: ReturnType<typeof openDatabase>, events: number): Promise<void> {
  const builder = new BlockBuilder('network', Date.UTC(2026, 0, 2));
  const flush = () => env.transactionSync(() => store.append(builder.finish()));
  for (const record of connRecords(events)) {
    builder.add(record);
    if (builder.full) flush();
  }
  if (builder.rows > 0) flush();
}

async function measure(path: string, events: number): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  const random = mulberry32(7);
  const below = (n: number) => Math.floor(random() * n);
  const start = Date.UTC(2026, 0, 1);
  const opened = performance.now();
  const env = openDatabase(path, { readOnly: true });
  const store = new EventStore(env);
  const again = (filter: EventFilter, page = 1) =>
    store.list({ table: 'network', filter, order: 'desc', per_page: 50, page });
  let asked = 0;
  /** Totals of filters are cached, so each query has a different bound, which is before all events. */
  const list = (filter: EventFilter, page = 1) => again({ from: start - ++asked, ...filter }, page);
  again({ terms: [] });
  rows.push({
    question: question(events),
    variant: 'opening and first page',
    value: performance.now() - opened,
    unit: 'ms',
  });

  const ids = JSON.parse(new TextDecoder().decode(again({ terms: [] }, 1 + below(events / 50)).json)) as {
    id: string;
    attributes: { dst_ip: string; connection_id: string };
  }[];
  const cursors: (string | undefined)[] = [undefined];
  const questions: Readonly<Record<string, () => unknown>> = {
    'newest page': () => again({ terms: [] }),
    'deep page': () => again({ terms: [] }, 1 + below(events / 50)),
    'next page by cursor': () => {
      const cursor = cursors[0];
      const query = {
        table: 'network',
        filter: { terms: [] },
        order: 'desc',
        per_page: 50,
        page: 1,
      } as const;
      const page = store.list(cursor === undefined ? query : { ...query, cursor });
      cursors[0] = page.next_cursor;
    },
    'filter by address': () => list({ terms: [{ field: 'ip', values: [`10.0.${below(4)}.${1 + below(100)}`] }] }),
    'filter by address, deep page': () =>
      list({ terms: [{ field: 'ip', values: [`10.0.${below(4)}.${1 + below(100)}`] }] }, 50),
    'filter by address, of few events': () =>
      list({ terms: [{ field: 'ip', values: [ids[below(ids.length)]!.attributes.dst_ip] }] }),
    'filter by an absent address': () =>
      list({ terms: [{ field: 'ip', values: [`93.${below(16)}.254.${below(255)}`] }] }),
    'CIDR, port and time': () => {
      const from = start + below(events / 2);
      const terms = [
        { field: 'dst_ip', values: [`93.${below(16)}.0.0/16`] },
        { field: 'dst_port', values: [443] },
      ];
      return list({ from, to: from + events / 2, terms });
    },
    'total of a filter (dst_port = 22)': () => list({ terms: [{ field: 'dst_port', values: [22] }] }),
    'the same, repeated': () => again({ terms: [{ field: 'dst_port', values: [22] }] }),
    'connection_id that exists': () =>
      list({
        terms: [{ field: 'connection_id', values: [ids[below(ids.length)]!.attributes.connection_id] }],
      }),
    'absent connection_id': () => list({ terms: [{ field: 'connection_id', values: ['CnotThere'] }] }),
    'free text': () => list({ q: 'SMT', terms: [] }),
    'get by id': () => store.get('network', ids[below(ids.length)]!.id),
  };
  for (const [variant, ask] of Object.entries(questions)) {
    const times: number[] = [];
    for (let i = 0; i < 33; i++) {
      const began = performance.now();
      ask();
      times.push(performance.now() - began);
    }
    // The first three times are discarded, because code is compiled.
    const sorted = times.slice(3).sort((a, b) => a - b);
    rows.push({ question: question(events), variant: `${variant}, p50`, value: sorted[15]!, unit: 'ms' });
    rows.push({ question: question(events), variant: `${variant}, p95`, value: sorted[28]!, unit: 'ms' });
  }
  await env.close();
  return rows;
}
