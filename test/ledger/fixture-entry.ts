import type { UnsignedEntry } from '../../src/ledger/ledger.ts';
import { uuidv7 } from '../../src/ledger/uuid.ts';

/** The nth entry of a test: its id depends on `n` only. */
export function entry(n: number, data: Record<string, unknown> = { n }): UnsignedEntry {
  const random = new Uint8Array(10);
  new DataView(random.buffer).setUint32(6, n);
  return {
    id: uuidv7(1_763_700_000_000 + n, random),
    kind: 'alert.raised',
    occurred_at: '2025-11-21T04:00:00.000Z',
    actor: 'system',
    subject: { type: 'alert', id: `alert ${n}` },
    data,
  };
}

export function entries(from: number, to: number): UnsignedEntry[] {
  return Array.from({ length: to - from }, (_, i) => entry(from + i));
}
