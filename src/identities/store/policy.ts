import type { CriticalEvent } from '../../contract/critical-events.ts';
import type { Policy } from '../../contract/resources/policy.ts';
import { ServiceError } from '../../errors.ts';
import type { Outbox } from '../../store/outbox.ts';
import type { Actor } from '../../store/store.ts';
import type { PolicyDefaults } from '../policy/default-rules.ts';
import { refuseLockOut } from './lock-out.ts';
import type { IdentityTables } from './tables.ts';

/** The access policy in effect, which matches the log. */
export interface StoredPolicy extends Pick<Policy, 'version' | 'rules' | 'loaded_at'> {
  /** Id of the policy resource, the same for all versions. */
  readonly id: string;
  /**
   * The operations that existed when the policy was stored. A later version of the program adds default rules
   * for new operations.
   */
  readonly operations: readonly string[];
  /** The settings at the last start; absent if an earlier version of the program wrote the policy. */
  readonly settings?: PolicyDefaults;
  /**
   * SHA-256 (hex) of the content of the editable file that these rules have yet to replace; absent after the
   * file was replaced.
   */
  readonly overwrites?: string;
}

/** One change of the access policy. */
export interface PolicyChange {
  /** The resulting policy. Its version is the stored version, plus 1 if the rules change. */
  readonly policy: StoredPolicy;
  /**
   * The event that logs the change of the rules; absent if the rules do not change, and for the
   * initialisation.
   */
  readonly event?: CriticalEvent;
  /** Id of the entry, for a change that an earlier version of the program may have logged. */
  readonly entryId?: string;
}

/**
 * Plans a change of the access policy. The policy and its log entry commit together.
 *
 * @throws VERSION_MISMATCH if another change was made first; CONFLICT for rules that lock out all
 * administrators; UNAVAILABLE if the outbox is full
 */
export function planPolicy(
  tables: IdentityTables,
  outbox: Outbox,
  { policy, event, entryId }: PolicyChange,
  by: Actor,
  nowMs: number,
): () => void {
  const before = tables.accessPolicy.get('current');
  const expected = policy.version - (event === undefined ? 0 : 1);
  if (before !== undefined && before.version !== expected)
    throw new ServiceError('VERSION_MISMATCH', `the policy has version ${before.version}, not ${expected}`, {
      version: before.version,
    });
  if (event !== undefined) outbox.requireRoom();
  if (event !== undefined && before !== undefined) refuseLockOut(tables, policy.rules);
  return () => {
    tables.accessPolicy.putSync('current', policy);
    const waits = entryId !== undefined && outbox.has(entryId);
    if (event !== undefined && !waits) outbox.add(event, nowMs, by.call, entryId);
  };
}
