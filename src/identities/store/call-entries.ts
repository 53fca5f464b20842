import type { IdentityTables } from './tables.ts';

/**
 * How long rows are kept. An audit record is written within seconds of its call; older rows belong to calls
 * whose record will never be written.
 */
const keptMs = 3600 * 1000;
/** Maximum number of rows removed with each row added. It is greater than one, so that the table shrinks. */
const sweptForEach = 2;

/** Records that a call caused an entry. Must be called in the transaction of the change. */
export function noteEntry(
  { callEntries }: Pick<IdentityTables, 'callEntries'>,
  call: string,
  { id, seq }: { readonly id: string; readonly seq: number },
  nowMs: number,
): void {
  for (const key of [...callEntries.getKeys({ limit: sweptForEach })])
    if (startOf(key[0]) + keptMs < nowMs) callEntries.removeSync(key);
  callEntries.putSync([call, seq], id);
}

/** Removes and returns the entries that a call caused, in the order of the outbox. Must be called in a transaction. */
export function takeEntries({ callEntries }: Pick<IdentityTables, 'callEntries'>, call: string): string[] {
  const ofCall = {
    start: [call, 0] as [string, number],
    end: [call, Number.POSITIVE_INFINITY] as [string, number],
  };
  const entries = [...callEntries.getRange(ofCall)];
  for (const { key } of entries) callEntries.removeSync(key);
  return entries.map(({ value }) => value);
}

/** Returns when a call began (epoch milliseconds), from its id, which is a UUIDv7. */
function startOf(call: string): number {
  return Number.parseInt(call.slice(0, 8) + call.slice(9, 13), 16);
}
