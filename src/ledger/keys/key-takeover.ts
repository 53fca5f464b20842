import { criticalEvent, entryOf } from '../../contract/critical-events.ts';
import { uuid7 } from '../../uuid.ts';
import type { LedgerKeyPurpose } from '../ledger.ts';
import { activated, type Ending, ended } from './key-file.ts';
import type { Key, KeyRing } from './key-ring.ts';

/**
 * Completes a change of two key files that a crash interrupted, before anything is signed. If both the new and the old
 * key are active, the old key ends as recorded in the new key's file. `KeyChanges` performs the remaining steps.
 */
export function finishKeyFiles(keys: KeyRing): void {
  for (const { file } of keys.all()) {
    const old = file.svc_ending === undefined ? undefined : keys.get(file.svc_ending.kid);
    if (file.svc_ending === undefined || old?.state !== 'active') continue;
    const endedMs = Date.parse(file.svc_not_before ?? file.svc_ending.entry.occurred_at);
    keys.change([old.with(ended(old.file, file.svc_ending, file.svc_from_size, endedMs))]);
  }
}

/**
 * Returns both keys after the change. The new key is first, because its file suffices to complete the old key's file.
 */
export function takeOver(
  old: Key,
  successor: Key,
  { size, timeMs, ending }: { readonly size: number; readonly timeMs: number; readonly ending: Ending },
): [Key, Key] {
  return [
    successor.with(activated(successor.file, size, timeMs, ending)),
    old.with(ended(old.file, ending, size, timeMs)),
  ];
}

/** Returns the ending of a key that is replaced by its successor. */
export function retirement(old: Key, size: number, timeMs: number, actor: string): Ending {
  const data = {
    purpose: old.purpose as LedgerKeyPurpose,
    ...(old.purpose === 'access-token' ? {} : { to_size: size }),
  };
  return {
    kid: old.kid,
    state: 'retired',
    entry: entryOf(criticalEvent('key.retired', old.kid, data, actor), uuid7(timeMs), timeMs),
  };
}
