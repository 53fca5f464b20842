import { expect } from 'vitest';
import { everything, resources } from '../store/opened.ts';
import type { Parts } from './parts.ts';

/** Checks that every alert is in the log exactly once, at its recorded position. */
export async function checkAlerts({ reader, ledger }: Pick<Parts, 'reader' | 'ledger'>): Promise<number> {
  const logged = new Map<string, number>();
  const { size } = await ledger.status();
  for (let page = 1; (page - 1) * 1000 < size; page++) {
    const { leaves } = await ledger.entries({ kinds: ['alert.raised'], page, per_page: 1000 });
    for (const { leaf_index, canonical } of leaves) {
      const { subject } = JSON.parse(Buffer.from(canonical).toString());
      if (subject.id.startsWith('alert ')) continue;
      expect(logged.has(subject.id), subject.id).toBe(false);
      logged.set(subject.id, leaf_index);
    }
  }
  let total = 0;
  for (let page = 1; ; page++) {
    const list = reader.listAlerts({ ...everything, page });
    total = list.total;
    const alerts = resources<{ transparency?: { leaf_index: number } }>(list);
    if (alerts.length === 0) break;
    for (const { id, attributes } of alerts) expect(logged.get(id), id).toBe(attributes.transparency?.leaf_index);
  }
  // The log is copied last, so it may have alerts that arrived after the copy of the store.
  expect(logged.size).toBeGreaterThanOrEqual(total);
  return total;
}
