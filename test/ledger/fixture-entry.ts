import type { UnsignedEntry } from '../../src/ledger/ledger.ts';
import { uuid7 } from '../../src/uuid.ts';

/** Returns the nth entry of a test, which occurred just now. Its id depends only on `n`. */
export function entry(n: number, data: Record<string, unknown> = { n }, atMs = Date.now()): UnsignedEntry {
  const random = `00000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`;
  return {
    id: uuid7(1_763_700_000_000 + n, random),
    kind: 'alert.raised',
    occurred_at: new Date(atMs).toISOString(),
    actor: 'system',
    subject: { type: 'alert', id: `alert ${n}` },
    data,
  };
}

export function entries(from: number, to: number, atMs = Date.now()): UnsignedEntry[] {
  return Array.from({ length: to - from }, (_, i) => entry(from + i, undefined, atMs));
}
