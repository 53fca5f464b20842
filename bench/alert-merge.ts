/** How much does merging findings into alerts cost, for known alerts and for a flood from forged addresses? */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packDerived } from '../src/events/derived-data.ts';
import type { Finding } from '../src/events/finding.ts';
import type { Store } from '../src/store/store.ts';
import { openStore } from '../src/store/writer.ts';
import { type BenchRow, rowOfRounds } from './result.ts';

const perBatch = 50_000;
const rounds = 8;
const hour = 3_600_000;
const actor = { id: '01900000-0000-7000-8000-00000000000a', name: 'bench' };

const kinds = {
  '60 pairs of addresses': (n) => ({
    rule_id: `1:${n % 5}`,
    src_ip: `203.0.113.${n % 4}`,
    dst_ip: `10.0.0.${n % 3}`,
  }),
  '50 rules, each finding from another address to one host': (n) => ({
    rule_id: `1:${n % 50}`,
    src_ip: `198.${18 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}`,
    dst_ip: '10.0.0.5',
  }),
  '50 rules, each finding from another address to 10,000 hosts': (n) => ({
    rule_id: `1:${n % 50}`,
    src_ip: `198.${18 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}`,
    dst_ip: `10.0.${(n >> 4) % 39}.${n % 256}`,
  }),
} satisfies Record<string, (n: number) => Partial<Finding>>;

export async function run(): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const silences of [0, 1000])
    for (const [variant, ends] of Object.entries(kinds)) rows.push(await merged(variant, ends, silences));
  return rows;
}

/** Measures microseconds per finding of a batch, including its flush. */
async function merged(variant: string, ends: (n: number) => Partial<Finding>, silences: number): Promise<BenchRow> {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-alerts-'));
  const store = openStore({ dataDir, alertWindowMs: hour, home: ['10.0.0.0/8'] });
  try {
    await silence(store, silences);
    const start = Date.now() - hour;
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const findings = Array.from(
        { length: perBatch },
        (_, i): Finding => ({
          rule_name: 'a rule',
          rule_source: 'suricata',
          title: 'A rule',
          severity: 'medium',
          timestamp: start + i,
          ...(ends(round * perBatch + i) as Pick<Finding, 'rule_id'>),
        }),
      );
      const answer = { accepted: perBatch, rejected: 0, ignored: 0, duplicates: 0, errors: [] };
      const batch = { blocks: [], ...packDerived({ findings }), answer };
      const began = performance.now();
      await store.commit(batch);
      times.push(((performance.now() - began) * 1000) / perBatch);
    }
    const question = `Merging findings into alerts, ${perBatch.toLocaleString('en')} a batch, ${silences} silences`;
    return rowOfRounds({ question, variant, unit: 'µs/finding' }, times);
  } finally {
    await store.close();
    rmSync(dataDir, { recursive: true });
  }
}

/** Creates silences for address blocks that contain no source of the findings. */
async function silence(store: Store, count: number): Promise<void> {
  const expires_at = new Date(Date.now() + hour).toISOString();
  await Promise.all(
    Array.from({ length: count }, (_, n) => {
      const matcher = { src_ip: [`172.16.${n >> 6}.${(n & 63) * 4}/30`] };
      return store.createSilence({ matcher, reason: 'bench', expires_at }, actor);
    }),
  );
}
