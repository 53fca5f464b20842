import { isDeepStrictEqual } from 'node:util';
import type { SilenceInput, SilenceUpdateInput } from '../../contract/resources/silence.ts';
import { entryCount } from '../../database/rows.ts';
import { invalidField, ServiceError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import type { Actor, SilenceChanged, StoredSilence } from '../../store/store.ts';
import { canonicalUuid, uuid7 } from '../../uuid.ts';
import { type AssetOf, type CompiledSilence, type Silenceable, SilenceIndex } from '../silence-match.ts';
import { hasEnded, type SilenceRow, silenceAt } from './silence-list.ts';
import type { AlertTables } from './tables.ts';

/**
 * The silences and their index for matching findings. Owned by the store thread. The index is rebuilt from the
 * table on the first use after a change or an aborted transaction. Changes must be made within transactions.
 */
export class Silences {
  readonly #table: AlertTables['silences'];
  #index: SilenceIndex | undefined;

  constructor({ silences }: Pick<AlertTables, 'silences'>) {
    this.#table = silences;
  }

  reload(): void {
    this.#index = undefined;
  }

  /** Returns the silence that matches now; undefined without a match. */
  find(subject: Silenceable, assetOf: AssetOf, nowMs: number): CompiledSilence | undefined {
    return this.#ready().find(subject, assetOf, nowMs);
  }

  get(id: string): CompiledSilence | undefined {
    return this.#ready().get(id);
  }

  /** Whether there are any silences. */
  get any(): boolean {
    return this.#ready().size > 0;
  }

  /**
   * Returns a silence. @throws NOT_FOUND; VERSION_MISMATCH when `version` is given and differs from the
   * silence's version.
   */
  require(id: string, version: number | undefined): { readonly id: string; readonly row: SilenceRow } {
    const key = canonicalUuid(id);
    const row = key === undefined ? undefined : this.#table.getStrict(key);
    if (key === undefined || row === undefined)
      throw new ServiceError('NOT_FOUND', `there is no silence ${id}`, { field: 'silence_id' });
    if (version !== undefined && version !== row.version)
      throw new ServiceError('VERSION_MISMATCH', `silence ${id} has version ${row.version}, not ${version}`, {
        version: row.version,
      });
    return { id: key, row };
  }

  /** Returns the silence that ended first, to be removed for a new silence. */
  oldestEnded(nowMs: number): string | undefined {
    let oldest: { readonly id: string; readonly at: number } | undefined;
    for (const { key, value } of this.#table.getRange()) {
      const at = Date.parse(value.expires_at);
      if (hasEnded(value, nowMs) && (oldest === undefined || at < oldest.at)) oldest = { id: key, at };
    }
    return oldest?.id;
  }

  get full(): boolean {
    return entryCount(this.#table) >= limits.maxSilences;
  }

  put(id: string, row: SilenceRow): void {
    this.#table.putSync(id, row);
    this.#index = undefined;
  }

  remove(id: string): void {
    this.#table.removeSync(id);
    this.#index = undefined;
  }

  #ready(): SilenceIndex {
    this.#index ??= new SilenceIndex(
      Array.from(this.#table.getRange(), ({ key, value }) => ({
        id: key,
        since: Date.parse(value.updated_at),
        until: Date.parse(value.expires_at),
        matcher: value.matcher,
      })),
    );
    return this.#index;
  }
}

/** Plans a new silence. @throws INVALID_REQUEST naming `expires_at`; CONFLICT when there are too many. */
export function planSilence(
  silences: Silences,
  { matcher, reason, expires_at }: SilenceInput,
  by: Actor,
  nowMs: number,
): () => StoredSilence {
  requireEnd(expires_at, nowMs);
  const displaced = silences.full ? silences.oldestEnded(nowMs) : undefined;
  if (silences.full && displaced === undefined)
    throw new ServiceError(
      'CONFLICT',
      `silence limit reached (${limits.maxSilences}), and no silence has ended; remove a silence first`,
    );
  return () => {
    if (displaced !== undefined) silences.remove(displaced);
    const id = uuid7(nowMs);
    const at = new Date(nowMs).toISOString();
    const row: SilenceRow = {
      matcher,
      reason,
      owner: by.name,
      expires_at,
      created_at: at,
      updated_at: at,
      version: 1,
    };
    silences.put(id, row);
    return { id, ...silenceAt(row, nowMs) };
  };
}

/** Plans a change. @throws NOT_FOUND; VERSION_MISMATCH; INVALID_REQUEST naming `expires_at`. */
export function planSilenceChange(
  silences: Silences,
  silenceId: string,
  change: SilenceUpdateInput,
  version: number | undefined,
  nowMs: number,
): () => SilenceChanged {
  const { id, row } = silences.require(silenceId, version);
  const { matcher = row.matcher, reason = row.reason, expires_at = row.expires_at } = change;
  if (expires_at !== row.expires_at) requireEnd(expires_at, nowMs);
  const after = { ...row, matcher, reason, expires_at };
  if (isDeepStrictEqual(after, row)) return () => ({ silence: { id, ...silenceAt(row, nowMs) }, unchanged: true });
  return () => {
    const saved = { ...after, updated_at: new Date(nowMs).toISOString(), version: row.version + 1 };
    silences.put(id, saved);
    return { silence: { id, ...silenceAt(saved, nowMs) } };
  };
}

/** Plans the removal of a silence. @throws NOT_FOUND; VERSION_MISMATCH. */
export function planSilenceRemoval(silences: Silences, silenceId: string, version: number | undefined): () => void {
  const { id } = silences.require(silenceId, version);
  return () => silences.remove(id);
}

function requireEnd(expiresAt: string, nowMs: number): void {
  const end = Date.parse(expiresAt);
  if (end <= nowMs) throw invalidField('expires_at', 'must be in the future');
  if (end > nowMs + limits.maxSilenceMs)
    throw invalidField('expires_at', `must be at most ${limits.maxSilenceMs / 86_400_000} days ahead`);
}
