import { closeSync, copyFileSync, mkdtempSync, openSync, readSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mulberry32 } from '../../bench/conn-records.ts';
import { isDamage } from '../../src/database/rows.ts';
import { treeDamage } from '../../src/ledger/check/tree-damage.ts';
import { findDamage } from '../../src/store/inspect.ts';
import { openReader } from '../../src/store/reader.ts';
import type { ListQuery, Store, StoreReader } from '../../src/store/store.ts';
import { openStore } from '../../src/store/writer.ts';
import { hasShared, home, parse, sharedFile } from '../ingest/ingesting.ts';
import { batchOf } from './opened.ts';

const now = Date.UTC(2026, 10, 20);
const folder = mkdtempSync(join(tmpdir(), 'candor-rot-'));
const options = { alertWindowMs: 3_600_000, clock: () => now, home, scrub: 'by hand' } as const;
const answer = { accepted: 0, rejected: 0, ignored: 0, duplicates: 0, errors: [] };

function linesOf(name: string, count: number): string {
  const bytes = sharedFile(name);
  const text = (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
  return text.split('\n').slice(0, count).join('\n');
}

const page: ListQuery = { terms: [], sort: '', order: 'asc', page: 1, per_page: 1000 } as never;
const sorted = (sort: string, order: 'asc' | 'desc' = 'desc') => ({ ...page, sort, order });

/** Returns all reads of siem.mdb that the service offers. */
function reads(reader: StoreReader): Record<string, () => unknown> {
  const text = ({ json }: { json: Uint8Array }) => JSON.parse(Buffer.from(json).toString()) as unknown;
  const of = (table: 'network' | 'dns') => ({ table, filter: { terms: [] } }) as const;
  const tables = (['network', 'dns'] as const).flatMap((table) => [
    [`${table} list`, () => text(reader.listEvents({ ...of(table), order: 'desc', page: 1, per_page: 10_000 }))],
    [`${table} histogram`, () => reader.eventHistogram({ ...of(table), buckets: 20, now })],
    [`${table} values`, () => reader.eventValueCounts({ ...of(table), by: 'src_ip', limit: 20 })],
  ]);
  return Object.fromEntries([
    ...tables,
    ['alerts', () => text(reader.listAlerts(sorted('last_seen')))],
    ['assets', () => text(reader.listAssets(sorted('last_seen')))],
    ['services', () => text(reader.listServices(sorted('last_seen')))],
    [
      'topology',
      () => ({
        ...reader.topology({ group_by: 'host', limit: 100, from: 0, to: now } as never),
        generated_at: '',
      }),
    ],
    ['risks', () => reader.risks()],
    ['triage', () => reader.triageModel()],
  ]) as Record<string, () => unknown>;
}

let whole: Record<string, unknown>;

beforeAll(async () => {
  if (!hasShared) return;
  const store = openStore({ dataDir: folder, ...options });
  for (const [name, count] of [
    ['zeek-lan/m57.conn.ndjson.gz', 1500],
    ['zeek-lan/m57.dns.ndjson.gz', 1000],
    ['suricata/honeypot-2018.alerts.ndjson', 100],
    ['zeek-lan/m57.conn.ndjson.gz', 300],
  ] as const) {
    const { blocks, findings, sightings } = parse(linesOf(name, count));
    await store.commit(batchOf(findings, { blocks, sightings, answer }));
  }
  await store.close();
  const reader = openReader(folder);
  whole = Object.fromEntries(Object.entries(reads(reader)).map(([name, read]) => [name, read()]));
  reader.close();
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Reads as the service does: damaged blocks are set aside and the read is repeated. */
async function answerOf(store: Store, read: () => unknown): Promise<unknown> {
  for (;;) {
    try {
      return read();
    } catch (error) {
      if (!isDamage(error)) throw error;
      const { block, table } = error.details as { readonly block?: number; readonly table: string };
      if (block === undefined) return 'damaged';
      await store.reportDamage({ table, block });
    }
  }
}

type Outcome = 'tree' | 'refused' | 'equal' | 'noticed';

async function judge(dataDir: string): Promise<Outcome> {
  if (treeDamage(join(dataDir, 'siem.mdb')).length > 0) return 'tree';
  const damage = await findDamage(dataDir);
  let store: Store;
  try {
    store = openStore({ dataDir, ...options });
  } catch (error) {
    expect(damage).not.toEqual([]);
    expect((error as Error).message).toContain('is damaged');
    return 'refused';
  }
  const reader = openReader(dataDir);
  try {
    return await judgeAnswers(store, reader, damage);
  } finally {
    reader.close();
    await store.close();
  }
}

async function judgeAnswers(store: Store, reader: StoreReader, damage: readonly string[]): Promise<Outcome> {
  let outcome: Outcome = damage.length === 0 ? 'equal' : 'noticed';
  for (const [name, read] of Object.entries(reads(reader))) {
    reader.damagedRows();
    const found = await answerOf(store, read);
    const rows = reader.damagedRows();
    if (rows.length > 0) outcome = 'noticed';
    if (found === 'damaged' || rows.length > 0) expect(damage).not.toEqual([]);
    else if (JSON.stringify(found) !== JSON.stringify(whole[name])) {
      // An alert whose key is damaged is missing from the newest page; fsck and the scrub name its row.
      const isAlert = name === 'alerts' && damage.some((one) => one.startsWith('row alerts '));
      // Otherwise, results must not differ without a damaged block.
      const table = name.startsWith('dns') ? 'dns' : 'network';
      if (!isAlert) expect(reader.damagedEvents(table), name).not.toEqual([]);
      if (name.endsWith('list')) {
        const before = new Set((whole[name] as unknown[]).map((item) => JSON.stringify(item)));
        expect((found as unknown[]).filter((item) => !before.has(JSON.stringify(item)))).toEqual([]);
      }
      outcome = 'noticed';
    }
  }
  return outcome;
}

describe.skipIf(!hasShared)('one flipped bit of siem.mdb', () => {
  test('does not change a result without an error or a notice that names the damage', async () => {
    const random = mulberry32(31);
    const original = join(folder, 'siem.mdb');
    const { size } = statSync(original);
    const outcomes = { tree: 0, refused: 0, equal: 0, noticed: 0 };
    for (let n = 0; n < Number(process.env.FLIPS ?? 25); n++) {
      const dataDir = mkdtempSync(join(folder, 'flip-'));
      const path = join(dataDir, 'siem.mdb');
      copyFileSync(original, path);
      const file = openSync(path, 'r+');
      const byte = Buffer.alloc(1);
      // Chooses a bit in used space, because most of the file is free.
      let at = 0;
      do at = Math.floor(random() * size);
      while (readSync(file, byte, 0, 1, at) === 1 && byte[0] === 0);
      byte[0]! ^= 1 << Math.floor(random() * 8);
      writeSync(file, byte, 0, 1, at);
      closeSync(file);
      outcomes[await judge(dataDir)]++;
      rmSync(dataDir, { recursive: true });
    }
    expect(outcomes.noticed).toBeGreaterThan(0);
    if (process.env.FLIPS !== undefined) console.log(outcomes, size);
  });
});
