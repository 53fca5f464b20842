/**
 * Constructors of critical events: `criticalEvent` for every kind, and functions for kinds whose subject or data is
 * derived. The code that makes the change calls a constructor and passes the result to the outbox (or, with an id and a
 * time, to the ledger). Texts are bounded and made well-formed, so the event can always be logged.
 */
import type { Alert } from './resources/alert.ts';
import type { EntryData } from './resources/log-entry-data.ts';
import type { SignedTreeHead } from './resources/transparency.ts';
import { type EntryKind, entrySubjects, maxEntryEventIds, maxEntryItems, maxEntryText } from './vocabulary.ts';

/** An event to log. `actor` is the id of a principal, or `system`. */
export interface CriticalEvent {
  readonly kind: EntryKind;
  readonly actor: string;
  readonly subject: { readonly type: string; readonly id: string };
  readonly data: Readonly<Record<string, unknown>>;
}

/** Returns the event as a log entry. `id` is a UUIDv7 and makes appending idempotent. */
export function entryOf(
  event: CriticalEvent,
  id: string,
  occurredAtMs: number,
): CriticalEvent & { readonly id: string; readonly occurred_at: string } {
  const { kind, actor, subject, data } = event;
  return { id, kind, occurred_at: new Date(occurredAtMs).toISOString(), actor, subject, data };
}

/**
 * Returns an event. The data is copied without undefined members; texts and lists are bounded.
 *
 * @param actor - id of a principal, or `system`
 */
export function criticalEvent<K extends EntryKind>(
  kind: K,
  subjectId: string,
  data: Given<EntryData<K>>,
  actor: string,
): CriticalEvent {
  return {
    kind,
    actor: named(actor),
    subject: { type: entrySubjects[kind], id: named(subjectId) },
    data: bounded(data) as CriticalEvent['data'],
  };
}

/**
 * Returns the event that is logged when the alert first reaches severity high. `digest` covers the events of the alert
 * that are stored.
 */
export function alertRaised(
  id: string,
  alert: Alert,
  actor: string,
  digest: Given<Pick<EntryData<'alert.raised'>, 'events' | 'events_digest' | 'events_count'>>,
): CriticalEvent {
  const { title, severity, category, src_ip, src_port, dst_ip, dst_port, transport, domain } = alert;
  const { count, first_seen, last_seen, dedup_key } = alert;
  const rule = { source: alert.rule_source, id: alert.rule_id, name: alert.rule_name };
  const ends = { src_ip, src_port, dst_ip, dst_port, transport, domain };
  const event_ids = alert.event_ids.slice(0, maxEntryEventIds);
  const times = { count, first_seen, last_seen, event_ids, dedup_key };
  const data = { rule, title, severity, category, ...ends, ...times, ...digest };
  return criticalEvent('alert.raised', id, data, actor);
}

export function principalProvisioned(
  id: string,
  { name, kind, roles }: Given<EntryData<'principal.provisioned'>>,
  actor: string,
): CriticalEvent {
  return criticalEvent('principal.provisioned', id, { name, kind, roles }, actor);
}

/** Returns the event for an access policy that was reloaded from its file: one event for the whole difference. */
export function policyReloaded(diff: Diff<'policy.reloaded'>, actor: string): CriticalEvent {
  return criticalEvent('policy.reloaded', 'access', counted(diff), actor);
}

/** Returns the event for an access policy that was changed over the API: one event for the whole difference. */
export function policyRuleEdited(diff: Diff<'policy.rule_edited'>, actor: string): CriticalEvent {
  return criticalEvent('policy.rule_edited', 'access', counted(diff), actor);
}

/** Returns the event for changed detection rules: one event for the whole difference. */
export function detectionReloaded(diff: Diff<'detection.reloaded'>, actor: string): CriticalEvent {
  return criticalEvent('detection.reloaded', 'detection', counted(diff), actor);
}

/**
 * Returns the event for changed threat intelligence lists: one event for the whole difference, in which lists are
 * recorded as rules.
 */
export function intelReloaded(diff: Diff<'detection.reloaded'>, actor: string): CriticalEvent {
  return criticalEvent('detection.reloaded', 'intel', counted(diff), actor);
}

export function keyRotated(data: Given<EntryData<'key.rotated'>>, actor: string): CriticalEvent {
  return criticalEvent('key.rotated', data.new_kid, data, actor);
}

export function backupCreated(
  id: string,
  backup: {
    readonly size: number;
    readonly files: number;
    readonly manifest_sha256: string;
    readonly sth?: SignedTreeHead | undefined;
  },
  actor: string,
): CriticalEvent {
  return criticalEvent('backup.created', id, { ...backup, sth: logged(backup.sth) }, actor);
}

export function backupRestored(
  restored: {
    readonly backup_id: string;
    readonly sth?: SignedTreeHead | undefined;
    readonly replaced?: SignedTreeHead | undefined;
  },
  actor: string,
): CriticalEvent {
  const { backup_id, sth, replaced } = restored;
  return criticalEvent(
    'backup.restored',
    backup_id,
    { backup_id, sth: logged(sth), replaced: logged(replaced) },
    actor,
  );
}

/** Returns the event for events that retention removed. */
export function eventsExpired(data: Given<EntryData<'events.expired'>>, actor: string): CriticalEvent {
  return criticalEvent('events.expired', data.table, data, actor);
}

/** Returns the event for ranges of stored events that were sealed, at most one range per table. */
export function eventsSealed(data: Given<EntryData<'events.sealed'>>): CriticalEvent {
  return criticalEvent('events.sealed', data.ranges.map(({ table }) => table).join(','), data, 'system');
}

/**
 * Returns the event for a checkpoint that an authority timestamped. No text is truncated: a shortened token or note
 * would prove nothing.
 */
export function checkpointTimestamped(data: EntryData<'checkpoint.timestamped'>): CriticalEvent {
  const kind = 'checkpoint.timestamped';
  return { kind, actor: 'system', subject: { type: entrySubjects[kind], id: data.checkpoint_sha256 }, data };
}

/** Returns the event for a log that starts a new life; the subject is the new origin of the log. */
export function lifeStarted(
  life: Omit<Given<EntryData<'log.life_started'>>, 'previous'> & {
    readonly previous?: { readonly origin: string; readonly head?: SignedTreeHead | undefined } | undefined;
  },
): CriticalEvent {
  const { previous, ...rest } = life;
  const before = previous && { origin: previous.origin, head: logged(previous.head) };
  return criticalEvent('log.life_started', life.origin, { ...rest, previous: before }, 'system');
}

/** Entry data as callers pass it: read-only, and optional members may be undefined. */
type Given<T> = T extends readonly (infer Item)[]
  ? readonly Given<Item>[]
  : T extends object
    ? {
        readonly [K in keyof T]: Partial<Pick<T, K>> extends Pick<T, K> ? Given<T[K]> | undefined : Given<T[K]>;
      }
    : T;

type DiffKind = 'policy.reloaded' | 'policy.rule_edited' | 'detection.reloaded';
type Diff<K extends DiffKind> = Given<Pick<EntryData<K>, 'version' | 'added' | 'removed' | 'changed'>>;

function counted<D extends { readonly [K in 'added' | 'removed' | 'changed']: readonly unknown[] }>(diff: D) {
  const counts = {
    added_count: diff.added.length,
    removed_count: diff.removed.length,
    changed_count: diff.changed.length,
  };
  return { ...diff, ...counts };
}

/** Returns the head in the form of log entries (see loggedHead in log-entry-data.ts). */
function logged(head: SignedTreeHead | undefined) {
  if (head === undefined) return undefined;
  const { tree_size, root_hash, timestamp_ns, signature, signer_key_id } = head;
  return { tree_size, root_hash, timestamp_ns: String(BigInt(timestamp_ns)), signature, signer_key_id };
}

/**
 * Returns a copy in which every text is valid for an entry, every list is bounded, and undefined members are
 * removed.
 */
function bounded(value: unknown): unknown {
  if (typeof value === 'string') return entryText(value);
  if (Array.isArray(value)) return value.slice(0, maxEntryItems).map(bounded);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(members.map(([name, member]) => [name, bounded(member)]));
}

/**
 * Returns a text that is valid for an entry: bounded, and well-formed because JCS rejects lone surrogates.
 */
function entryText(text: string): string {
  return text.slice(0, maxEntryText).toWellFormed();
}

/** Bounds a text like `entryText`, for names, which the ledger requires to be non-empty. */
function named(text: string): string {
  return entryText(text) || 'unknown';
}
