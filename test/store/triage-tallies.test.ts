import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../src/lmdb.ts';
import { openTables } from '../../src/store/lmdb/tables.ts';
import { Triage } from '../../src/store/lmdb/triage.ts';
import { alert } from '../triage/alerts.ts';

test('what is remembered of rules and addresses is bounded: those judged longest ago go, and are counted', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-triage-'));
  const root = openDatabase(join(dataDir, 'siem.mdb'));
  onTestFinished(async () => {
    await root.close();
    rmSync(dataDir, { recursive: true });
  });
  const tables = openTables(root);
  const most = 64;
  const triage = new Triage(tables, () => false, most);
  const judged = (n: number) => {
    const id = `01900000-0000-7000-8000-${n.toString().padStart(12, '0')}`;
    const found = alert({ rule_id: 'the one rule', src_ip: `192.0.2.${n}`, verdict: 'benign' });
    return { id, seq: n, raised: false, found: 'low', alert: found } as const;
  };
  const { verdict: _, ...untouched } = alert();
  const before = { ...judged(0), alert: untouched };
  const lessons = Array.from({ length: 200 }, (_, n) =>
    root.transactionSync(() => triage.taughtBy(before, judged(n), 1000 + n)),
  );
  const kept = Array.from(tables.triageTallies.getRange(), ({ key, value }) => ({ key, value }));
  expect(kept.length).toBeLessThanOrEqual(most);
  expect(triage.limitsReached()).toEqual({ maxTriageTallies: 201 - kept.length });
  expect(kept.find(({ key }) => key[0] === 'rule')?.value).toEqual([0, 200, 0, 1199]);
  expect(kept.map(({ key }) => key[1])).toContain('192.0.2.199');
  expect(kept.map(({ key }) => key[1])).not.toContain('192.0.2.0');

  // What was forgotten can still be taken back.
  for (const [n, taught] of lessons.entries()) {
    const row = { ...judged(n), ...taught };
    root.transactionSync(() =>
      triage.taughtBy(row, { ...row, alert: { ...row.alert, verdict: 'test' } }, 2000),
    );
  }
  expect(Array.from(tables.triageTallies.getKeys())).toEqual([]);
  expect(tables.triageState.get('model')?.verdicts).toBe(0);
});
