import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Triage } from '../../../src/alerts/store/triage.ts';
import { describeModel } from '../../../src/alerts/triage/local/describe.ts';
import { features } from '../../../src/alerts/triage/local/features.ts';
import { openDatabase } from '../../../src/database/lmdb.ts';
import { openTables } from '../../../src/store/tables.ts';
import { alert } from '../triage/local/alerts.ts';

test('tallies of rules and addresses are bounded: the tallies with the oldest verdicts are removed and counted', () => {
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
  const sources = kept.filter(({ key }) => key[0] === 'source').map(({ value }) => value[3]);
  expect(Math.max(...sources)).toBe(1199);
  expect(Math.min(...sources)).toBeGreaterThan(1100);

  // The effect of a verdict can be undone even after its tallies were removed.
  for (const [n, taught] of lessons.entries()) {
    const row = { ...judged(n), ...taught };
    root.transactionSync(() => triage.taughtBy(row, { ...row, alert: { ...row.alert, verdict: 'test' } }, 2000));
  }
  expect(Array.from(tables.triageTallies.getKeys())).toEqual([]);
  expect(tables.triageState.get('model')?.verdicts).toBe(0);
});

test('tallies that an earlier version counted for all rules are not used, and a verdict learned by that version can still be undone', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-triage-'));
  const root = openDatabase(join(dataDir, 'siem.mdb'));
  onTestFinished(async () => {
    await root.close();
    rmSync(dataDir, { recursive: true });
  });
  const tables = openTables(root);
  const learned = features.map(() => ({ wrong: -2, mistaken: 2, mass: 9 }));
  const outcomes = { exact: 1, same_side: 0, opposite: 0, abstained: 0 };
  tables.triageState.putSync('model', { version: 1, verdicts: 1, learned, outcomes, updatedAt: 1 });
  tables.triageTallies.putSync(['target', '10.0.0.5'], [0, 40, 40, 1]);
  const triage = new Triage(tables, () => true);
  const row = (more: object) => ({
    ...{ id: '01900000-0000-7000-8000-000000000001', seq: 1, raised: false, found: 'low' as const },
    alert: alert({ dst_ip: '10.0.0.5', ...more }),
  });
  const { ai_verdict } = triage.verdictFor(undefined, row({}), 1000);
  expect(ai_verdict).toMatchObject({ verdict: 'insufficient_data', confidence: 0 });
  expect(ai_verdict!.reasons.join()).not.toContain('this target');
  const lesson = {
    model: 1,
    verdict: 'benign',
    places: [0],
    values: [1],
    wrong: [-1],
    mistaken: [],
  } as const;
  const before = { ...row({ verdict: 'benign' }), taught: { lesson, outcome: 'exact' as const } };
  root.transactionSync(() => triage.taughtBy(before, row({ verdict: 'test' }), 2000));
  expect(tables.triageState.get('model')).toMatchObject({ version: 2, verdicts: 0 });
  expect(describeModel(tables.triageState.get('model'), 0).features.every(({ met }) => met === 0)).toBe(true);
});
