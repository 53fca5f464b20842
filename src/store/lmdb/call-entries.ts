import type { Tables } from './tables.ts';

/** An audit record is written within seconds of its call. What waits longer, waits for one that will not come. */
const keptMs = 3600 * 1000;
/** Removed with each one that is added, at most: more than come. */
const sweptForEach = 2;

/** Notes that a call caused an entry. Within the transaction of the change. */
export function noteEntry(
  { callEntries }: Pick<Tables, 'callEntries'>,
  call: string,
  { id, seq }: { readonly id: string; readonly seq: number },
  nowMs: number,
): void {
  for (const key of [...callEntries.getKeys({ limit: sweptForEach })])
    if (startOf(key[0]) + keptMs < nowMs) callEntries.removeSync(key);
  callEntries.putSync([call, seq], id);
}

/** The entries that a call caused, in their order; they are the caller's now. Within a transaction. */
export function takeEntries({ callEntries }: Pick<Tables, 'callEntries'>, call: string): string[] {
  const ofCall = {
    start: [call, 0] as [string, number],
    end: [call, Number.POSITIVE_INFINITY] as [string, number],
  };
  const entries = [...callEntries.getRange(ofCall)];
  for (const { key } of entries) callEntries.removeSync(key);
  return entries.map(({ value }) => value);
}

/** When a call began, by its id, which is a UUIDv7: epoch milliseconds. */
function startOf(call: string): number {
  return Number.parseInt(call.slice(0, 8) + call.slice(9, 13), 16);
}
