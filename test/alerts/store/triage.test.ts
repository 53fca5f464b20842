import { describe, expect, test } from 'vitest';
import { localModel } from '../../../src/alerts/triage/local/model.ts';
import type { Alert } from '../../../src/contract/resources/alert.ts';
import type { Finding } from '../../../src/events/finding.ts';
import { openReader } from '../../../src/store/reader.ts';
import type { AlertChange, AlertUpdate, GivenVerdict, Store } from '../../../src/store/store.ts';
import { openStore } from '../../../src/store/writer.ts';
import {
  analyst,
  batchOf,
  everything,
  finding,
  hour,
  type Opened,
  type OpenedStore,
  opened,
  start,
} from '../../store/opened.ts';

const home = ['10.0.0.0/8'];

/** Returns findings with different hosts, so that each becomes an alert. */
const hosts = (n: number, changes: Partial<Finding> = {}): Finding[] =>
  Array.from({ length: n }, (_, i) =>
    finding({ rule_id: '1:77', severity: 'high', src_ip: `10.0.${i >> 8}.${i & 255}`, ...changes }),
  );

async function raised(store: OpenedStore, findings: readonly Finding[]): Promise<AlertUpdate['alert'][]> {
  const { alerts } = await store.commit(batchOf(findings));
  return alerts.map(({ alert }) => alert);
}

const change = async (store: Pick<Store, 'changeAlert'>, id: string, what: AlertChange) =>
  (await store.changeAlert(id, what, analyst)).alert;

const general = ({ reader }: Pick<Opened, 'reader'>) =>
  reader.triageModel().features.map(({ wrong, mistaken, met }) => [wrong.now, mistaken.now, met]);

const close = (a: readonly number[][], b: readonly number[][]) =>
  a.every((row, i) => row.every((value, j) => Math.abs(value - b[i]![j]!) < 1e-9));

describe('every alert is triaged', () => {
  test('as it is raised, with reasons and the time', async () => {
    const { store, reader, clock } = opened({ home });
    const [alert] = await raised(store, hosts(1, { confidence: 0.8 }));
    expect(alert?.ai_verdict).toMatchObject({
      verdict: 'insufficient_data',
      confidence: 0,
      model: `${localModel} (0 verdicts learned)`,
      at: new Date(clock.now).toISOString(),
    });
    expect(alert?.ai_verdict?.reasons).toContain('Outbound activity of an internal host: +0.40.');
    const filtered = (verdict: string) =>
      reader.listAlerts({ ...everything, terms: [{ field: 'ai_verdict', values: [verdict] }] }).total;
    expect([filtered('insufficient_data'), filtered('benign')]).toEqual([1, 0]);
  });

  test('again when its inputs change, not with each occurrence', async () => {
    const { store, clock } = opened();
    const seen: string[] = [];
    const [first] = await raised(store, [finding()]);
    for (let n = 2; n <= 11; n++) {
      clock.now = start + n * 1000;
      const [alert] = await raised(store, [finding()]);
      seen.push(alert!.ai_verdict!.at);
    }
    const at = new Date(start + 10_000).toISOString();
    expect(seen).toEqual([...new Array(8).fill(first!.ai_verdict!.at), at, at]);
    clock.now = start + 20_000;
    const note = await change(store, first!.id, { note: 'looked at it', tags: ['seen'] });
    expect(note.ai_verdict?.at).toBe(at);
    const graver = await change(store, first!.id, { severity: 'critical' });
    expect(graver.ai_verdict?.at).toBe(new Date(clock.now).toISOString());
    expect(graver.ai_verdict?.reasons).not.toEqual(first?.ai_verdict?.reasons);
  });

  test("and keeps the model's verdict when an analyst overrides that verdict", async () => {
    const { store } = opened();
    const [alert] = await raised(store, hosts(1));
    const override = { verdict: 'benign', reason: 'a backup' } as const;
    const after = await change(store, alert!.id, { ai_override: override, status: 'resolved' });
    expect(after).toMatchObject({ verdict: 'benign', override, ai_verdict: alert!.ai_verdict });
  });
});

describe("the model learns from analysts' verdicts", () => {
  test('and gives the next alert of a rule the same verdict and the reason, after 20 false positives', async () => {
    const { store, reader } = opened({ home });
    const alerts = await raised(store, hosts(20, { severity: 'medium' }));
    for (const { id } of alerts) await change(store, id, { verdict: 'false_positive', status: 'resolved' });
    const [next] = await raised(store, [
      finding({ rule_id: '1:77', severity: 'medium', src_ip: '10.9.9.9', dst_ip: '203.0.113.9' }),
    ]);
    expect(next?.ai_verdict).toMatchObject({
      verdict: 'false_positive',
      model: `${localModel} (20 verdicts learned)`,
    });
    expect(next!.ai_verdict!.confidence).toBeGreaterThan(0.8);
    expect(next!.ai_verdict!.reasons[0]).toMatch(/^Analysts found 20 of 20 alerts of this rule harmless: −/);
    const model = reader.triageModel();
    expect(model).toMatchObject({ verdicts: 20, validation: { judged: 20 } });
    expect(model.validation.exact + model.validation.same_side).toBeGreaterThan(10);
  });

  test('once per alert, even if the verdict changes often; the verdict duplicate undoes earlier verdicts', async () => {
    const around = opened({ home });
    const { store, reader } = around;
    const before = general(around);
    const [alert] = await raised(store, hosts(1));
    const found = ['true_positive', 'false_positive', 'benign', 'suspicious', 'false_positive'] as const;
    for (let n = 0; n < 40; n++) await change(store, alert!.id, { verdict: found[n % found.length]! });
    expect(reader.triageModel()).toMatchObject({ verdicts: 1, validation: { judged: 1 }, histories: 3 });
    await change(store, alert!.id, { ai_override: { verdict: 'duplicate', reason: 'the same' } });
    expect(reader.triageModel()).toMatchObject({ verdicts: 0, validation: { judged: 0 }, histories: 0 });
    expect(close(general(around), before)).toBe(true);
    for (const verdict of ['benign', 'test', 'benign', 'insufficient_data'] as const)
      await change(store, alert!.id, { ai_override: { verdict, reason: 'looked again' } });
    expect(reader.triageModel()).toMatchObject({ verdicts: 0, histories: 0 });
    expect(close(general(around), before)).toBe(true);
  });

  test('permanently, despite further occurrences and restarts', async () => {
    const { dataDir, store, reader, clock } = opened({ home });
    const [alert] = await raised(store, hosts(1));
    await change(store, alert!.id, { verdict: 'false_positive' });
    await raised(store, hosts(1));
    const model = reader.triageModel();
    await store.close();
    const again = openStore({ dataDir, alertWindowMs: hour, clock: () => clock.now, home });
    const view = openReader(dataDir);
    expect(view.triageModel()).toEqual(model);
    await change(again, alert!.id, { verdict: 'test' });
    expect(view.triageModel().verdicts).toBe(0);
    view.close();
    await again.close();
  });

  test('once, even if another call aborts the transaction', async () => {
    const around = opened({ home });
    const { store, reader } = around;
    const [one, two] = await raised(store, hosts(2));
    await change(store, one!.id, { verdict: 'benign' });
    const before = reader.triageModel();
    const was = general(around);
    // A finding whose event is in no block of its batch is a bug in the caller, and aborts the transaction.
    const bug = batchOf([finding({ event: { block: 7, row: 0 } })]);
    const [changed, failed] = await Promise.allSettled([
      store.changeAlert(two!.id, { verdict: 'true_positive' }, analyst),
      store.commit(bug),
    ]);
    expect([changed.status, failed.status]).toEqual(['fulfilled', 'rejected']);
    // The change was applied again, separately, and the model learned from it once.
    await change(store, two!.id, { verdict: 'test' });
    const { updated_at: _, ...after } = reader.triageModel();
    expect(before).toMatchObject({ ...after, features: before.features });
    expect(close(general(around), was)).toBe(true);
  });
});

describe("another model's verdict", () => {
  const given: GivenVerdict = {
    verdict: 'benign',
    confidence: 0.7,
    model: 'endpoint/m',
    reasons: ['why'],
  };

  test('replaces the local verdict without other changes', async () => {
    const { store, reader, notices } = opened();
    const [alert] = await raised(store, hosts(1));
    expect(await store.setAiVerdict(alert!.id, given, alert!.ai_verdict!.at)).toBe(true);
    expect(notices.at(-1)?.alerts).toMatchObject([{ alert: { id: alert!.id, ai_verdict: given } }]);
    const { ai_verdict: _, updated_at: __, version: ___, ...rest } = reader.getAlert(alert!.id) as Alert;
    expect(alert).toMatchObject(rest);
    expect(rest).not.toHaveProperty('verdict');
  });

  test('is ignored if the alert is gone or was triaged again', async () => {
    const { store, clock } = opened();
    const [alert] = await raised(store, hosts(1));
    const none = '01900000-0000-7000-8000-00000000ffff';
    expect(await store.setAiVerdict(none, given, alert!.ai_verdict!.at)).toBe(false);
    clock.now += 1000;
    await change(store, alert!.id, { status: 'in_progress' });
    expect(await store.setAiVerdict(alert!.id, given, alert!.ai_verdict!.at)).toBe(false);
    expect((await change(store, alert!.id, { note: 'x' })).ai_verdict?.model).toContain(localModel);
  });

  test("does not remove alerts from the risk score; only a user's verdict does", async () => {
    const { store, reader } = opened();
    const asset = await store.createAsset({ name: 'db', ip_addresses: ['10.0.0.0'] }, analyst);
    const [alert] = await raised(store, hosts(1));
    await store.setAiVerdict(alert!.id, { ...given, confidence: 1 }, alert!.ai_verdict!.at);
    const risks = () => reader.risks().assets.map(({ id }) => id);
    await expect.poll(risks).toEqual([asset.asset.id]);
    await change(store, alert!.id, { ai_override: { verdict: 'benign', reason: 'ours' } });
    await expect.poll(risks).toEqual([]);
  });
});
