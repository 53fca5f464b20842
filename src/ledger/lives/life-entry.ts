import { entryOf, lifeStarted } from '../../contract/critical-events.ts';
import type { LogEntry } from '../../contract/resources/transparency.ts';
import type { LifeReason } from '../../contract/vocabulary.ts';
import { sha256 } from '../../crypto/sha256.ts';
import { bytesToHex, hexToBytes } from '../../tlog/hex.ts';
import { equalHashes, type Hash, leafHash } from '../../tlog/tree.ts';
import { corrupt, keysLost, rollback } from '../distrust.ts';
import { signedBytes } from '../entry.ts';
import { type LifeStart, ledgerPurposes } from '../keys/key-file.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import { lifeInOrigin } from '../keys/life-origin.ts';
import type { LedgerStatus, UnsignedEntry } from '../ledger.ts';
import { DamagedError, type LedgerStorage } from '../storage/storage.ts';

export const lifeKind = 'log.life_started';

/** The start of the log's current life, as recorded in its entry. */
export interface LifeRecord {
  readonly index: number;
  readonly canonical: Uint8Array;
  /** Id of the life: 8 hex digits. */
  readonly id: string;
  readonly reason: LifeReason;
  /** Time of the entry, ISO 8601. */
  readonly at: string;
  /** Leaves of the largest known head of the previous life. */
  readonly fromSize: number;
  /** Number of leaves from which the log continued. */
  readonly toSize: number;
}

/** The tree that a life continues. */
export interface Continued {
  readonly size: number;
  readonly root: Hash;
}

/**
 * Returns the entry that begins the life whose keys are active.
 *
 * @param eventsLife - the life that the event database has entered
 */
export function lifeEntry(
  start: LifeStart,
  keys: KeyRing,
  tree: Continued,
  eventsLife: string | undefined,
): UnsignedEntry {
  const { reason, entry_id, at, previous } = start;
  const event = lifeStarted({
    reason,
    life: keys.life!,
    origin: keys.origin!,
    previous,
    ...(eventsLife === undefined ? {} : { events_life: eventsLife }),
    ...(tree.size === 0 ? {} : { continues_from: { tree_size: tree.size, root_hash: bytesToHex(tree.root) } }),
    keys: ledgerPurposes.map((purpose) => {
      const { kid, fingerprint } = keys.active(purpose)!;
      return { purpose, kid, fingerprint };
    }),
  });
  return entryOf(event, entry_id, Date.parse(at));
}

/** The fields of the entry that are read back. */
interface LifeData {
  readonly reason: LifeReason;
  readonly life: string;
  readonly previous?: { readonly origin: string; readonly head?: { readonly tree_size: number } };
  readonly events_life?: string;
  readonly continues_from?: { readonly tree_size: number; readonly root_hash: string };
}

export function lifeRecord(index: number, canonical: Uint8Array): LifeRecord {
  const { data, occurred_at } = parsed(canonical);
  const { reason, life, previous, continues_from } = data as unknown as LifeData;
  const toSize = continues_from?.tree_size ?? 0;
  const fromSize = previous?.head?.tree_size ?? toSize;
  return { index, canonical, id: life, reason, at: occurred_at, fromSize, toSize };
}

const parsed = (canonical: Uint8Array): LogEntry => JSON.parse(new TextDecoder().decode(canonical));

/**
 * Returns whether an entry of the log begins this life, or names this life as one that was replaced. Reads the first
 * entry of each life.
 *
 * @throws DamagedError
 */
export function followsLife(storage: LedgerStorage, hashAt: (index: number) => Hash, life: string): boolean {
  const { kinds } = storage;
  return kinds.range(lifeKind, 0, kinds.count(lifeKind)).some((index) => {
    const canonical = storage.canonical(index);
    if (canonical === undefined || !equalHashes(leafHash(sha256, canonical), hashAt(index)))
      throw new DamagedError(`entry ${index} is missing or does not match its leaf hash`);
    const { kind, data } = parsed(canonical);
    if (kind !== lifeKind) throw new DamagedError(`entry ${index} is indexed under the wrong kind`);
    const { life: begun, previous, events_life } = data as unknown as LifeData;
    return [begun, events_life, lifeInOrigin(previous?.origin ?? '')].includes(life);
  });
}

const events = {
  restored: 'restored',
  loss_accepted: 'rebuilt',
  begun_anew: 'begun_anew',
  copied: 'copied',
} as const satisfies Record<LifeReason, NonNullable<LedgerStatus['regression']>['event']>;

/** Returns the start of a life in the form that status and health report. */
export function regressionOf({ reason, at, fromSize, toSize }: LifeRecord) {
  return { at, event: events[reason], from_size: fromSize, to_size: toSize };
}

/**
 * Returns the entry that began the current life; undefined in the first life, or if the entry is not logged yet.
 *
 * @param rootAt - returns the root of the first `size` leaves
 * @throws UntrustedLogError if the keys belong to another life than the log, or the entry is invalid
 */
export function currentLife(
  { storage, keys, rootAt }: { storage: LedgerStorage; keys: KeyRing; rootAt(size: number): Hash },
  start: LifeStart | undefined,
): LifeRecord | undefined {
  const count = storage.kinds.count(lifeKind);
  const index = count === 0 ? undefined : storage.kinds.range(lifeKind, count - 1, count)[0];
  const canonical = index === undefined ? undefined : storage.canonical(index);
  const found = canonical && lifeRecord(index!, canonical);
  if (found?.id === keys.life) return found && requireValid(found, keys, rootAt);
  if (start !== undefined) return undefined; // the entry is appended next
  if (found !== undefined && !keys.all().some(({ file }) => file.svc_life === found.id))
    throw keysLost(`The log is in life ${found.id}, but the folder keys has no key of this life`);
  throw rollback(
    `The keys are those of ${nameOf(keys.life)}, and the log ends in ${nameOf(found?.id)}: the log lacks the entry that ` +
      'begins the life of the keys.',
  );
}

const nameOf = (life: string | undefined): string => (life === undefined ? 'the first life' : `life ${life}`);

function requireValid(record: LifeRecord, keys: KeyRing, rootAt: (size: number) => Hash): LifeRecord {
  const entry = parsed(record.canonical);
  const { continues_from } = entry.data as unknown as LifeData;
  const signed = keys.verify(entry.key_id, 'event-signing', signedBytes(entry), hexToBytes(entry.signature, 64));
  if (!signed || keys.get(entry.key_id)?.file.svc_life !== record.id)
    throw corrupt(`entry ${record.index}, which begins life ${record.id}, is not signed by a key of this life`);
  const continues = record.toSize === record.index;
  if (!continues || (continues_from && !equalHashes(hexToBytes(continues_from.root_hash, 32), rootAt(record.toSize))))
    throw corrupt(`entry ${record.index}, which begins life ${record.id}, continues a different tree`);
  return record;
}
