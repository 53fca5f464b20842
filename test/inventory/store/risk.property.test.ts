import fc from 'fast-check';
import { expect, test } from 'vitest';
import { riskScore } from '../../../src/analytics/risk-score.ts';
import type { Alert } from '../../../src/contract/resources/alert.ts';
import { alertStatuses, criticalities, mayBecome, severities, verdicts } from '../../../src/contract/vocabulary.ts';
import { weighs } from '../../../src/inventory/alert-scoring.ts';
import { assetRisk, rankOf, scoreOf } from '../../../src/inventory/model/asset-risk.ts';
import {
  analyst,
  batchOf,
  everything,
  finding,
  hour,
  type Opened,
  opened,
  resources,
  start,
} from '../../store/opened.ts';
import { assetsOf, macA, macB, see } from './sightings.ts';

const ips = ['10.0.0.1', '10.0.0.2', '10.0.0.3', '198.51.100.1'];
const ip = fc.constantFrom(...ips);
const home = fc.constantFrom(...ips.slice(0, 3));
const pick = fc.nat();

const operation = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('alert'),
      src: ip,
      dst: ip,
      rule: fc.nat(4),
      severity: fc.constantFrom(...severities),
      ago: fc.nat(72),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('see'),
      ip: home,
      mac: fc.constantFrom(undefined, macA, macB),
      ago: fc.nat(72),
    }),
  },
  fc.record({ do: fc.constant('status'), pick, status: fc.constantFrom(...alertStatuses) }),
  fc.record({ do: fc.constant('verdict'), pick, verdict: fc.constantFrom(...verdicts) }),
  fc.record({ do: fc.constant('criticality'), pick, criticality: fc.constantFrom(...criticalities) }),
  fc.record({ do: fc.constant('merge'), pick, into: pick }),
  fc.record({ do: fc.constant('remove'), pick }),
  fc.record({ do: fc.constant('pass'), hours: fc.nat(500) }),
);
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

const alertsOf = ({ reader }: Opened) => resources<Alert>(reader.listAlerts(everything));

async function run(open: Opened, todo: Operation): Promise<void> {
  const { store, reader, clock } = open;
  const alert = (n: number) => alertsOf(open).at(n % Math.max(1, alertsOf(open).length));
  const asset = (n: number) => assetsOf(reader).at(n % Math.max(1, assetsOf(reader).length))?.id;
  if ('severity' in todo) {
    const { src, dst, rule, severity, ago } = todo;
    const found = finding({
      src_ip: src,
      dst_ip: dst,
      rule_id: `${rule}`,
      severity,
      timestamp: clock.now - ago * hour,
    });
    await store.commit(batchOf([found]));
  } else if ('mac' in todo) {
    const { mac, ago } = todo;
    await see(open, { ip: todo.ip, at: clock.now - ago * hour, ...(mac === undefined ? {} : { mac }) });
  } else if ('status' in todo) {
    const one = alert(todo.pick);
    if (one !== undefined && mayBecome(one.attributes.status, todo.status))
      await store.changeAlert(one.id, { status: todo.status }, analyst);
  } else if ('verdict' in todo) {
    const one = alert(todo.pick);
    if (one !== undefined) await store.changeAlert(one.id, { verdict: todo.verdict }, analyst);
  } else if ('criticality' in todo) {
    const id = asset(todo.pick);
    if (id !== undefined) await store.changeAsset(id, { criticality: todo.criticality }, analyst);
  } else if ('into' in todo) {
    const [id, into] = [asset(todo.pick), asset(todo.into)];
    if (id !== undefined && into !== undefined && id !== into) await store.mergeAssets(id, into, analyst);
  } else if ('hours' in todo) clock.now += todo.hours * hour;
  else {
    const id = asset(todo.pick);
    if (id !== undefined) await store.removeAsset(id);
  }
}

/** Computes the risk scores from all alerts and all assets, by the owners of addresses. */
function plain(open: Opened) {
  const { reader, clock } = open;
  reader.assets.refresh();
  const weighing = alertsOf(open).filter(({ attributes }) => weighs(attributes));
  const owners = ({ src_ip, dst_ip, last_seen }: Alert) =>
    [src_ip, dst_ip].map((at) => at && reader.assets.at(at, Date.parse(last_seen))).filter((id) => id !== undefined);
  const riskOf = (alerts: typeof weighing, criticality: (typeof criticalities)[number]) =>
    assetRisk(
      alerts.map(({ attributes }) => {
        const score = attributes.risk_score!;
        return {
          score,
          rank: rankOf(score, Math.min(Date.parse(attributes.last_seen), Date.parse(attributes.updated_at))),
        };
      }),
      criticality,
      clock.now,
    );
  const assets = assetsOf(reader).map(({ id, criticality }) => ({
    id,
    score: riskOf(
      weighing.filter(({ attributes }) => owners(attributes).includes(id)),
      criticality,
    ),
  }));
  const none = weighing.filter(({ attributes }) => owners(attributes).length === 0);
  return { assets, none: { ids: none.map(({ id }) => id).toSorted(), score: riskOf(none, 'medium') } };
}

/** The last stored score, by asset and time. */
type Told = Map<string, Map<number, number>>;

function noteRisks({ reader, clock }: Opened, told: Told): void {
  const assets = assetsOf(reader);
  for (const id of told.keys()) if (!assets.some((asset) => asset.id === id)) told.delete(id);
  for (const { id, risk_score } of assets) {
    const scores = told.get(id) ?? new Map<number, number>();
    told.set(id, scores.set(clock.now, risk_score));
  }
}

/** Checks that histories have the assets' scores at each time. */
function expectHistories({ reader, clock }: Opened, told: Told): void {
  for (const [id, scores] of told) {
    const { held = 0, changes } = reader.riskHistory(id, start, clock.now);
    const historyAt = (time: number) => changes.findLast(({ at }) => at <= time)?.score ?? held;
    const times = [...scores.keys()];
    expect(times.map(historyAt)).toEqual([...scores.values()]);
    for (const from of times) {
      const part = reader.riskHistory(id, from + 1, clock.now);
      expect(part.held ?? scores.get(from)).toBe(historyAt(from));
      expect(part.changes).toEqual(changes.filter(({ at }) => at > from));
    }
  }
}

test('risk always follows from the contributing alerts, for any changes of alerts, assets and addresses', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 1, maxLength: 25 }), async (todo) => {
      const open = opened();
      const told = new Map<string, Map<number, number>>();
      for (const each of todo) {
        await run(open, each);
        noteRisks(open, told);
      }
      expectHistories(open, told);
      const wanted = plain(open);
      const risk = riskScore(open.reader, { now: open.clock.now });
      const shown = risk.entities.map(({ asset_id, score }) => ({ id: asset_id, score }));
      const atRisk = wanted.assets.filter(({ score }) => score > 0);
      const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);
      expect(shown.toSorted(byId)).toEqual(atRisk.toSorted(byId));
      expect(risk.unassigned?.score ?? 0).toBe(wanted.none.score);
      const named = risk.unassigned?.alerts.map(({ alert_id }) => alert_id) ?? [];
      expect(wanted.none.ids).toEqual(expect.arrayContaining(named));
      const highest = Math.max(0, wanted.none.score, ...atRisk.map(({ score }) => score));
      expect(risk.score).toBeGreaterThanOrEqual(highest);
      // The stored score is from the last change of an input. The current score is equal or lower, because the clock
      // moved without firing timers.
      for (const { id, score } of wanted.assets)
        expect(open.reader.getAsset(id)!.risk_score).toBeGreaterThanOrEqual(score);
      await open.store.close();
    }),
    { numRuns: 25 },
  );
});

test('the score of a new alert is the same at any time of the clock', () => {
  for (const at of [0, start, 8.64e15]) expect(assetRisk([{ score: 47, rank: rankOf(47, at) }], 'medium', at)).toBe(47);
  expect(scoreOf(0)).toBe(0);
});
