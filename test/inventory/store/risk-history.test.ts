import { expect, test } from 'vitest';
import { riskHistory } from '../../../src/analytics/risk-history.ts';
import type { Asset } from '../../../src/contract/resources/asset.ts';
import { limits } from '../../../src/limits.ts';
import { openReader } from '../../../src/store/reader.ts';
import { openStore } from '../../../src/store/writer.ts';
import { analyst, batchOf, finding, hour, type Opened, opened, start } from '../../store/opened.ts';
import { holder, see } from './sightings.ts';

const ip = '10.0.0.1';
const most = limits.maxRiskChanges;
let open: Opened;

/** Creates one asset with one high alert. */
async function atRisk(): Promise<string> {
  open = opened();
  await see(open, { ip });
  await open.store.commit(batchOf([finding({ src_ip: '198.51.100.1', dst_ip: ip, severity: 'high' })]));
  return holder(open.reader, ip).id;
}

const become = (id: string, criticality: Asset['criticality']) => open.store.changeAsset(id, { criticality }, analyst);

test('the history starts at the start of the window, with the score at that time', async () => {
  const id = await atRisk();
  const asked = (ms: number) => {
    const { points, ...rest } = riskHistory(open.reader, {
      assetId: id,
      window: '24h',
      now: open.clock.now + ms,
    })!;
    return { ...rest, points: points.map(({ at, score }) => [Date.parse(at) - start, score]) };
  };
  expect(asked(0)).toEqual({
    window: '24h',
    from: new Date(start - 24 * hour).toISOString(),
    to: new Date(start).toISOString(),
    score: 73,
    level: 'high',
    highest: 73,
    points: [
      [-24 * hour, 0],
      [0, 73],
    ],
  });
  open.clock.now += hour;
  await become(id, 'low');
  expect(asked(0).points).toEqual([
    [-23 * hour, 0],
    [0, 73],
    [hour, 57],
  ]);
  // Covers a window that begins exactly at the change, and a window after all changes.
  expect(asked(24 * hour)).toMatchObject({ points: [[hour, 57]], highest: 57 });
  expect(asked(24 * hour - 1)).toMatchObject({
    points: [
      [hour - 1, 73],
      [hour, 57],
    ],
    highest: 73,
  });
  expect(asked(48 * hour)).toMatchObject({ points: [[25 * hour, 57]], score: 57 });
});

test('the history of an asset whose risk never changed is its current score; an unknown asset has no history', async () => {
  open = opened();
  await see(open, { ip });
  const { id } = holder(open.reader, ip);
  const query = { window: '7d', now: open.clock.now } as const;
  expect(riskHistory(open.reader, { assetId: id, ...query })?.points).toEqual([
    { at: new Date(start - 168 * hour).toISOString(), score: 0 },
  ]);
  expect(riskHistory(open.reader, { assetId: analyst.id, ...query })).toBeUndefined();
});

test('the history survives a restart, and is removed with its asset', async () => {
  const id = await atRisk();
  await become(id, 'critical');
  const before = open.reader.riskHistory(id, 0, start);
  expect(before.changes).toEqual([{ at: start, score: 87, highest: 87 }]);
  await open.store.close();
  const store = openStore({ dataDir: open.dataDir, alertWindowMs: hour, clock: () => open.clock.now });
  const reader = openReader(open.dataDir);
  expect(reader.riskHistory(id, 0, start)).toEqual(before);
  await store.removeAsset(id);
  expect(reader.riskHistory(id, 0, start)).toEqual({ held: undefined, changes: [] });
  reader.close();
  await store.close();
});

test('the history stays in order when the clock is set back', async () => {
  const id = await atRisk();
  open.clock.now -= 24 * hour;
  await become(id, 'low');
  open.clock.now += 25 * hour;
  await become(id, 'medium');
  expect(open.reader.riskHistory(id, 0, open.clock.now)).toEqual({
    held: 0,
    changes: [
      { at: start, score: 57, highest: 73 },
      { at: start + hour, score: 73, highest: 73 },
    ],
  });
});

test('the history of a quickly changing score is bounded, and keeps its past and its highest score', async () => {
  const id = await atRisk();
  const past = Array.from({ length: 20 }, (_, day) => start + day * 24 * hour);
  for (const [i, at] of past.entries()) {
    open.clock.now = at;
    await become(id, i % 2 === 0 ? 'low' : 'high');
  }
  const flutter = open.clock.now + hour;
  let highest = 0;
  for (let i = 0; i < 2 * most; i++) {
    open.clock.now = flutter + i * 10;
    await become(id, i === most ? 'critical' : i % 2 === 0 ? 'low' : 'medium');
    highest = Math.max(highest, holder(open.reader, ip).risk_score);
  }
  const { held, changes } = open.reader.riskHistory(id, 0, open.clock.now);
  expect(changes.length).toBeLessThanOrEqual(Math.ceil(1.1 * most));
  expect(held).toBe(0);
  expect(changes.slice(0, past.length).map(({ at }) => at)).toEqual(past);
  expect(changes.at(-1)).toMatchObject({ score: holder(open.reader, ip).risk_score });
  const told = riskHistory(open.reader, { assetId: id, window: '24h', now: open.clock.now })!;
  expect(told.highest).toBe(highest);
  expect(told.points.every(({ at }, i) => i === 0 || at > told.points[i - 1]!.at)).toBe(true);
});
