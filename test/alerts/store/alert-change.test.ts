import { describe, expect, test } from 'vitest';
import { Alert } from '../../../src/contract/resources/alert.ts';
import { AlertNote } from '../../../src/contract/resources/alert-note.ts';
import { validate } from '../../../src/contract/validate.ts';
import { alertStatuses, alertTransitions } from '../../../src/contract/vocabulary.ts';
import { analyst, batchOf, everything, finding, hour, newest, opened, resources } from '../../store/opened.ts';

type Status = (typeof alertStatuses)[number];

/** The status changes that lead from a new alert to a status. */
const paths = {
  new: [],
  in_progress: ['in_progress'],
  resolved: ['resolved'],
  suppressed: ['suppressed'],
  archived: ['resolved', 'archived'],
} as const satisfies Record<Status, readonly Status[]>;

async function alertThatIs(status: Status = 'new') {
  const open = opened();
  const { alerts } = await open.store.commit(batchOf([finding()]));
  const { id } = alerts[0]!.alert;
  for (const next of paths[status]) await open.store.changeAlert(id, { status: next }, analyst);
  return { ...open, id };
}

const pairs = alertStatuses.flatMap((from) => alertStatuses.map((to) => [from, to] as const));

describe('status', () => {
  test.for(pairs)('changes from %s to %s only if the transition is allowed', async ([from, to]) => {
    const { store, reader, id } = await alertThatIs(from);
    const allowed: readonly Status[] = alertTransitions[from];
    const change = store.changeAlert(id, { status: to }, analyst);
    if (from === to || allowed.includes(to)) {
      await expect(change).resolves.toMatchObject({ alert: { status: to } });
      return;
    }
    await expect(change).rejects.toMatchObject({
      code: 'INVALID_TRANSITION',
      details: { from, to, allowed },
    });
    expect(reader.getAlert(id)?.status).toBe(from);
  });
});

describe('a change', () => {
  test('keeps other attributes, increments the version and updates updated_at', async () => {
    const { store, reader, clock, id } = await alertThatIs();
    const before = reader.getAlert(id)!;
    clock.now += 1000;
    const { alert, seq } = await store.changeAlert(
      id,
      { verdict: 'benign', assignee: 'ana', tags: ['a', 'b'], priority: 'high' },
      analyst,
    );
    const { id: _, ...attributes } = alert;
    expect(attributes).toEqual({
      ...before,
      verdict: 'benign',
      assignee: 'ana',
      tags: ['a', 'b'],
      priority: 'high',
      version: 2,
      updated_at: new Date(clock.now).toISOString(),
    });
    expect(reader.getAlert(id)).toEqual(attributes);
    expect(seq).toBe(2);
  });

  test('with an empty assignee removes the assignee', async () => {
    const { store, reader, id } = await alertThatIs();
    await store.changeAlert(id, { assignee: 'ana' }, analyst);
    await store.changeAlert(id, { assignee: '' }, analyst);
    expect(reader.getAlert(id)).not.toHaveProperty('assignee');
  });

  test('without effect is neither stored nor announced', async () => {
    const { store, reader, notices, id } = await alertThatIs();
    const { seq } = await store.changeAlert(id, { assignee: 'ana', tags: ['a'] }, analyst);
    const before = reader.getAlert(id);
    const announced = notices.length;
    for (const change of [{}, { assignee: 'ana', tags: ['a'], status: 'new' }] as const) {
      const update = await store.changeAlert(id, change, analyst);
      expect(update).toMatchObject({ seq, unchanged: true, alert: { id, version: 2 } });
    }
    expect(reader.getAlert(id)).toEqual(before);
    expect(notices).toHaveLength(announced);
  });

  test('of the severity updates the risk score and the default priority', async () => {
    const { store, id } = await alertThatIs();
    const { alert } = await store.changeAlert(id, { severity: 'medium' }, analyst);
    expect(alert).toMatchObject({ severity: 'medium', priority: 'medium', risk_score: 47 });
  });

  test('with a wrong version is rejected', async () => {
    const { store, reader, id } = await alertThatIs();
    await expect(store.changeAlert(id, { assignee: 'x' }, analyst, 2)).rejects.toMatchObject({
      code: 'VERSION_MISMATCH',
    });
    await expect(store.changeAlert(id, { assignee: 'x' }, analyst, 1)).resolves.toBeDefined();
    expect(reader.getAlert(id)?.version).toBe(2);
  });

  test.for(['01900000-0000-7000-8000-000000000001', 'no uuid', '', 'x'.repeat(5000)])(
    'to an unknown alert is rejected with NOT_FOUND: %s',
    async (id) => {
      const { store, reader } = opened();
      await expect(store.changeAlert(id, {}, analyst)).rejects.toMatchObject({ code: 'NOT_FOUND' });
      await expect(store.addNote(id, 'x', analyst)).rejects.toMatchObject({ code: 'NOT_FOUND' });
      expect(reader.getAlert(id)).toBeUndefined();
    },
  );

  test('by an id in upper case is stored, and can be read by that id', async () => {
    const { store, reader, id } = await alertThatIs();
    const { alert } = await store.changeAlert(id.toUpperCase(), { assignee: 'ana' }, analyst);
    expect(alert).toMatchObject({ id, assignee: 'ana' });
    expect(reader.getAlert(id.toUpperCase())).toMatchObject({ assignee: 'ana' });
  });

  test('that overrides the AI verdict is stored and logged', async () => {
    const { store, id } = await alertThatIs();
    const { alert } = await store.changeAlert(
      id,
      { ai_override: { verdict: 'false_positive', reason: 'our scanner' } },
      analyst,
    );
    expect(alert).toMatchObject({
      verdict: 'false_positive',
      override: { verdict: 'false_positive', reason: 'our scanner', by: 'ana' },
    });
    expect(await store.outbox(10)).toMatchObject([
      { kind: 'verdict.overridden', actor: analyst.id, subject: { type: 'alert', id } },
    ]);
  });

  test('of an overridden verdict to a different verdict requires another override', async () => {
    const { store, id } = await alertThatIs();
    const override = (verdict: 'benign' | 'true_positive') => ({ ai_override: { verdict, reason: 'seen' } });
    await store.changeAlert(id, override('benign'), analyst);
    await expect(store.changeAlert(id, { verdict: 'true_positive' }, analyst)).rejects.toMatchObject({
      code: 'CONFLICT',
      details: { field: 'verdict', override: 'benign' },
    });
    await store.changeAlert(id, { verdict: 'benign', status: 'resolved' }, analyst);
    const { alert } = await store.changeAlert(id, override('true_positive'), analyst);
    expect(alert).toMatchObject({ verdict: 'true_positive', override: { verdict: 'true_positive' } });
    expect(await store.outbox(10)).toHaveLength(2);
  });

  test('that is rejected does not write its note', async () => {
    const { store, reader, id } = await alertThatIs();
    await expect(store.changeAlert(id, { status: 'archived', note: 'x' }, analyst)).rejects.toMatchObject({
      code: 'INVALID_TRANSITION',
    });
    expect(reader.listNotes(id, newest).total).toBe(0);
  });
});

describe('notes', () => {
  test('are counted in the alert and listed newest first, in pages', async () => {
    const { store, reader, id } = await alertThatIs();
    for (let i = 1; i <= 4; i++) await store.addNote(id, `note ${i}`, analyst);
    await store.changeAlert(id, { note: 'note 5' }, analyst);
    expect(reader.getAlert(id)).toMatchObject({ note_count: 5, version: 6 });
    const texts = (page: number) =>
      resources<AlertNote>(reader.listNotes(id, { ...newest, page, per_page: 2 })).map(
        ({ attributes }) => attributes.text,
      );
    expect([texts(1), texts(2), texts(3), texts(4)]).toEqual([
      ['note 5', 'note 4'],
      ['note 3', 'note 2'],
      ['note 1'],
      [],
    ]);
    expect(resources<AlertNote>(reader.listNotes(id, { ...newest, per_page: 1 }))).toMatchObject([
      { type: 'alert_note', attributes: { alert_id: id, author: 'ana' } },
    ]);
  });
});

test('alerts and notes conform to the contract, with all attributes and with the fewest', async () => {
  const { store, reader } = opened();
  const { src_ip: _s, src_port: _p, dst_ip: _d, dst_port: _q, transport: _t, ...fewest } = finding();
  const fullest = finding({
    description: 'd',
    category: 'c',
    confidence: 0.25,
    domain: 'a.example',
    severity: 'critical',
    tags: ['', 'x'.repeat(500), ...Array.from({ length: 200 }, (_, i) => `t${i}`)],
    mitre: { tactics: ['discovery'], techniques: ['T1046'] },
  });
  await store.commit(batchOf([fewest]));
  const { id } = (await store.commit(batchOf([fullest]))).alerts[0]!.alert;
  await store.changeAlert(
    id,
    { note: 'n', assignee: 'ana', verdict: 'test', ai_override: { verdict: 'benign', reason: 'r' } },
    analyst,
  );
  for (const row of await store.outbox(10))
    await store.settle([{ id: row.id, leaf_index: 0, tree_size: 1, leaf_hash: 'ab'.repeat(32) }]);
  await store.changeAlert(id, { status: 'resolved' }, analyst);
  await store.commit(batchOf([fullest]));
  const alerts = resources<unknown>(reader.listAlerts(everything));
  expect(alerts).toHaveLength(3);
  for (const { attributes } of alerts) expect(() => validate(Alert, attributes)).not.toThrow();
  const [note] = resources<unknown>(reader.listNotes(id, newest));
  expect(() => validate(AlertNote, note!.attributes)).not.toThrow();
});

describe('the sequence of changes', () => {
  test('grows with each change, and a replay returns the latest state of each alert changed since', async () => {
    const { store, reader } = opened();
    const ids: string[] = [];
    for (const src_ip of ['10.0.0.1', '10.0.0.2', '10.0.0.3'])
      ids.push((await store.commit(batchOf([finding({ src_ip })]))).alerts[0]!.alert.id);
    expect(reader.head('alerts')).toBe(3);
    await store.changeAlert(ids[0]!, { assignee: 'ana' }, analyst);
    const replay = reader.replayAlerts(1, everything, 10);
    expect(replay).toMatchObject({ next: 4, head: 4, lost: 0 });
    expect(replay.events.map(({ seq, id }) => [seq, id])).toEqual([
      [2, ids[1]],
      [3, ids[2]],
      [4, ids[0]],
    ]);
    expect(replay.events.at(-1)?.data.assignee).toBe('ana');
    const first = reader.replayAlerts(0, everything, 2);
    expect(first).toMatchObject({ next: 3, head: 4 });
    expect(reader.replayAlerts(first.next, everything, 2).events.map(({ seq }) => seq)).toEqual([4]);
    expect(reader.replayAlerts(4, everything, 2)).toMatchObject({ events: [], next: 4 });
  });

  test('continues after a restart', async () => {
    const { store, reader, dataDir, id } = await alertThatIs('in_progress');
    reader.close();
    await store.close();
    const { openStore } = await import('../../../src/store/writer.ts');
    const again = openStore({ dataDir, alertWindowMs: hour });
    const { seq } = await again.changeAlert(id, { status: 'resolved' }, analyst);
    expect(seq).toBe(3);
    await again.close();
  });
});
