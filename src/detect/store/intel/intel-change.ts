import { isDeepStrictEqual } from 'node:util';
import { intelReloaded } from '../../../contract/critical-events.ts';
import { entryCount } from '../../../database/rows.ts';
import { ServiceError } from '../../../errors.ts';
import { limits } from '../../../limits.ts';
import type { Outbox } from '../../../store/outbox.ts';
import type { Actor, IntelChanged } from '../../../store/store.ts';
import { canonicalUuid, uuid7 } from '../../../uuid.ts';
import type { DetectTables } from '../tables.ts';
import type { Intel } from './intel.ts';
import { intelOf } from './intel-reads.ts';
import type { IntelContent, IntelFacts, IntelRow, IntelSettings } from './intel-row.ts';
import { putIndex, removeIndex } from './intel-tables.ts';

interface Parts {
  readonly tables: DetectTables;
  readonly outbox: Outbox;
  readonly intel: Intel;
  readonly nowMs: number;
}

/**
 * Plans a new list, with its log entry.
 *
 * @throws CONFLICT at a limit; UNAVAILABLE when the outbox is full
 */
export function planIntel(
  parts: Parts,
  settings: IntelSettings,
  { index, ...facts }: IntelContent,
  by: Actor,
): () => IntelChanged {
  const { tables, outbox, nowMs } = parts;
  if (entryCount(tables.intelLists) >= limits.maxIntelLists)
    throw new ServiceError('CONFLICT', `intel list limit reached (${limits.maxIntelLists}); remove a list first`);
  requireRoom(tables, facts, undefined);
  outbox.requireRoom();
  const id = uuid7(nowMs);
  const at = new Date(nowMs).toISOString();
  const row: IntelRow = {
    ...settings,
    content: facts,
    content_changed_at: at,
    created_at: at,
    changed_at: at,
    version: 1,
  };
  return () => {
    putIndex(tables, id, index);
    return write(parts, id, { before: undefined, after: row }, by, index);
  };
}

/** Changes to a list. An empty string or null removes a value. */
export type IntelChange = Partial<Omit<IntelSettings, Removable>> & {
  readonly [K in Removable]?: IntelSettings[K] | null;
};

type Removable = 'confidence' | 'expires_at' | 'default_valid_days';

/**
 * Plans a change of a list, with its log entry. A change without effect stores nothing.
 *
 * @throws NOT_FOUND; VERSION_MISMATCH; CONFLICT at a limit; UNAVAILABLE when the outbox is full.
 */
export function planIntelChange(
  parts: Parts,
  wanted: {
    readonly id: string;
    readonly change: IntelChange;
    readonly content?: IntelContent;
    readonly version?: number | undefined;
  },
  by: Actor,
): () => IntelChanged {
  const { tables, outbox, nowMs } = parts;
  const { id, before } = requireList(tables, wanted.id, wanted.version);
  const { index, ...facts } = wanted.content ?? {};
  const isOther = wanted.content !== undefined;
  const at = new Date(nowMs).toISOString();
  const said = Object.entries({ ...before, ...wanted.change }).filter(([, value]) => value !== '' && value !== null);
  const after: IntelRow = {
    ...(Object.fromEntries(said) as unknown as IntelRow),
    ...(isOther ? { content: facts as IntelFacts, content_changed_at: at } : {}),
    changed_at: at,
    version: before.version + 1,
  };
  // With a default validity, uploading unchanged content is a change, because the upload restarts the validity.
  const isSame = isDeepStrictEqual(plain(before, isOther), plain(after, isOther));
  if (isSame) return () => ({ id, list: intelOf(tables, id, before, nowMs), unchanged: true });
  if (isOther) requireRoom(tables, after.content, before.content);
  outbox.requireRoom();
  return () => {
    if (index !== undefined) putIndex(tables, id, index);
    return write(parts, id, { before, after }, by, index);
  };
}

/**
 * Plans the removal of a list, with its log entry.
 *
 * @throws NOT_FOUND; VERSION_MISMATCH; UNAVAILABLE when the outbox is full
 */
export function planIntelRemoval(parts: Parts, listId: string, by: Actor, version?: number): () => void {
  const { tables, outbox } = parts;
  const { id, before } = requireList(tables, listId, version);
  outbox.requireRoom();
  return () => {
    removeIndex(tables, id);
    tables.intelHits.removeSync(id);
    write(parts, id, { before, after: undefined }, by);
  };
}

type Step =
  | { readonly before: IntelRow | undefined; readonly after: IntelRow }
  | { readonly before: IntelRow; readonly after: undefined };

function write(
  parts: Parts,
  id: string,
  step: Step & { after: IntelRow },
  by: Actor,
  index?: ArrayBuffer,
): IntelChanged;
function write(parts: Parts, id: string, step: Step, by: Actor, index?: ArrayBuffer): IntelChanged | undefined;
function write(parts: Parts, id: string, { before, after }: Step, by: Actor, index?: ArrayBuffer) {
  const { tables, outbox, intel, nowMs } = parts;
  const version = (tables.intelState.get('version') ?? 0) + 1;
  tables.intelState.putSync('version', version);
  if (after === undefined) tables.intelLists.removeSync(id);
  else tables.intelLists.putSync(id, after);
  intel.changed(id, after, index);
  const was = before === undefined ? [] : [entryOf(id, before)];
  const is = after === undefined ? [] : [entryOf(id, after)];
  const diff = {
    version,
    added: before === undefined ? is : [],
    removed: after === undefined ? was : [],
    changed: was.length + is.length === 2 ? [{ before: was[0]!, after: is[0]! }] : [],
  };
  outbox.add(intelReloaded(diff, by.id), nowMs, by.call);
  return after === undefined ? undefined : { id, list: intelOf(tables, id, after, nowMs) };
}

/** The fields of a list in a log entry. */
const entryOf = (id: string, row: IntelRow) => ({
  id,
  title: row.name,
  level: row.severity,
  enabled: row.enabled,
  source_sha256: row.content.sha256,
  source: row.source,
  indicators: row.content.indicators,
  confidence: row.confidence,
  expires_at: row.expires_at,
  default_valid_days: row.default_valid_days,
});

/** Returns the fields that must be equal in two rows for a change to have no effect. */
function plain({ content, content_changed_at, changed_at: _, version: __, ...rest }: IntelRow, isOther: boolean) {
  const { sha256, format, indicators, rejectedTotal } = content;
  const from = isOther && rest.default_valid_days !== undefined ? content_changed_at : undefined;
  return { ...rest, sha256, format, indicators, rejectedTotal, from };
}

function requireList({ intelLists }: DetectTables, listId: string, version: number | undefined) {
  const id = canonicalUuid(listId);
  const before = id === undefined ? undefined : intelLists.getStrict(id);
  if (id === undefined || before === undefined) throw new ServiceError('NOT_FOUND', `there is no intel list ${listId}`);
  if (version !== undefined && version !== before.version)
    throw new ServiceError('VERSION_MISMATCH', `intel list ${id} has version ${before.version}, not ${version}`, {
      version: before.version,
    });
  return { id, before };
}

/**
 * Checks the limit on indicators, counting the new content instead of the previous content.
 *
 * @throws CONFLICT
 */
function requireRoom({ intelLists }: DetectTables, after: IntelFacts, before: IntelFacts | undefined): void {
  let all = after.indicators - (before?.indicators ?? 0);
  for (const { value } of intelLists.getRange()) all += value.content.indicators;
  if (all > limits.maxIntelIndicators)
    throw new ServiceError(
      'CONFLICT',
      `content: all lists together would have ${all} indicators; the limit is ${limits.maxIntelIndicators}`,
      {
        field: 'content',
        reason: `exceeds the limit of ${limits.maxIntelIndicators} indicators in all lists`,
      },
    );
}
