import { isDamage } from '../../../database/rows.ts';
import type { NamedHost } from '../../../events/derived-data.ts';
import type { Finding } from '../../../events/finding.ts';
import { limits } from '../../../limits.ts';
import { isAddress } from '../../../net/ip.ts';
import type { ListHits } from '../../../projections/delta.ts';
import { intelFinding } from '../../intel/intel-finding.ts';
import { IntelIndex } from '../../intel/intel-index.ts';
import { IntelMatcher } from '../../intel/intel-matcher.ts';
import type { DetectTables } from '../tables.ts';
import { endOfEndless, type IntelRow } from './intel-row.ts';
import { readIndex } from './intel-tables.ts';

type IntelTables = Pick<DetectTables, 'intelLists' | 'intelContents' | 'intelHits'>;

/**
 * The lists of known-bad addresses and domains for matching events. Enabled lists are in memory, 25 to 50 MB
 * for limits.maxIntelIndicators. The store and the projector have an object each.
 *
 * Hits are counted in memory and written with the results of their events, in one transaction. After an aborted
 * transaction, the counted hits are discarded, and counted again when the events are processed again.
 */
export class Intel {
  readonly matcher: IntelMatcher;
  readonly #tables: IntelTables;
  /** Version of each list when it was last loaded, by id; includes disabled lists. */
  readonly #versions = new Map<string, number>();
  #isChanged = false;
  /** Hits since the last write, by list. */
  #hits = new Map<string, { times: number; last: number }>();

  /** @param now - returns the clock time in epoch milliseconds */
  constructor(tables: IntelTables, now: () => number) {
    this.#tables = tables;
    this.matcher = new IntelMatcher(now);
    this.#catchUp();
  }

  /**
   * Applies a change of a list, within the transaction that writes the change.
   *
   * @param index - the indicators of the list, if they changed; ownership passes to this object
   */
  changed(id: string, row: IntelRow | undefined, index?: ArrayBuffer): void {
    this.#isChanged = true;
    if (row === undefined) {
      this.#hits.delete(id);
      this.#drop(id);
    } else this.#take(id, row, index === undefined ? this.matcher.indexOf(id) : new IntelIndex(index));
  }

  /**
   * Returns findings about the hosts in `namedHosts`, which are named by records that are not stored.
   *
   * @param nowMs - server time; event times may be later
   */
  met(namedHosts: readonly NamedHost[], nowMs: number): { readonly list_id: string; readonly finding: Finding }[] {
    if (this.matcher.isEmpty) return [];
    return namedHosts.flatMap(({ value, sensor, part, ...contact }) => {
      const timestamp = Math.min(contact.timestamp, nowMs + limits.maxClockLeadMs);
      const hit = this.matcher.addressHit(value, timestamp) ?? this.matcher.domainHit(value, timestamp);
      if (hit === undefined) return [];
      const domain = isAddress(value) ? {} : { domain: value.toLowerCase().replace(/\.$/, '') };
      const finding = intelFinding(hit, { ...contact, ...domain, bad: part, seen: value, timestamp });
      const sensors = sensor === undefined ? {} : { sensors: [sensor] };
      return [{ list_id: hit.list_id, finding: { ...finding, ...sensors } }];
    });
  }

  /**
   * Counts a hit of a list.
   *
   * @param at - time of the event, epoch milliseconds
   */
  counted(listId: string, at: number): void {
    this.#add(listId, 1, at);
  }

  #add(listId: string, times: number, last: number): void {
    const before = this.#hits.get(listId);
    if (before === undefined) this.#hits.set(listId, { times, last });
    else {
      before.times += times;
      before.last = Math.max(before.last, last);
    }
  }

  /** Number of lists with hits that are not written yet. */
  get dirty(): number {
    return this.#hits.size;
  }

  /** Writes the counted hits. Must be called in a transaction. */
  write(): void {
    const { intelHits, intelLists } = this.#tables;
    for (const [id, { times, last }] of this.#hits) {
      if (!intelLists.doesExist(id)) continue;
      const { hits, last: earlier } = intelHits.get(id) ?? { hits: 0, last: 0 };
      intelHits.putSync(id, { hits: hits + times, last: Math.max(earlier, last) });
    }
    this.#hits = new Map();
  }

  /** Called after an aborted transaction: memory may hold state that was never committed. */
  forget(): void {
    this.#hits = new Map();
    this.#catchUp();
  }

  /** Returns whether a list has changed since the last call. */
  takeChanged(): boolean {
    const isChanged = this.#isChanged;
    this.#isChanged = false;
    return isChanged;
  }

  /** Adds hits that the projector counted. */
  addHits(hits: readonly ListHits[]): void {
    for (const { list_id, times, last } of hits) this.#add(list_id, times, last);
  }

  /** Returns the counted hits and resets the counts. */
  takeHits(): ListHits[] {
    const hits = Array.from(this.#hits, ([list_id, { times, last }]) => ({ list_id, times, last }));
    this.#hits = new Map();
    return hits;
  }

  /** Loads the stored lists. Lists whose stored version the matcher already has are not loaded again. */
  #catchUp(): void {
    const gone = new Set(this.#versions.keys());
    for (const { key: id, value: row } of this.#tables.intelLists.getRange()) {
      gone.delete(id);
      if (this.#versions.get(id) !== row.version) this.#takeSound(id, row);
    }
    for (const id of gone) this.#drop(id);
  }

  /** Loads a list. A list with a damaged piece is removed from the matcher. */
  #takeSound(id: string, row: IntelRow): void {
    try {
      this.#take(id, row);
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.matcher.drop(id);
    }
  }

  #take(id: string, row: IntelRow, index?: IntelIndex): void {
    this.#versions.set(id, row.version);
    if (!row.enabled) return this.matcher.drop(id);
    const { name, severity, confidence, expires_at } = row;
    const until = endOfEndless(row);
    this.matcher.use({
      id,
      name,
      severity,
      ...(confidence === undefined ? {} : { confidence }),
      ...(expires_at === undefined ? {} : { expires: Date.parse(expires_at) }),
      ...(until === undefined ? {} : { until }),
      index: index ?? new IntelIndex(readIndex(this.#tables, id)),
    });
  }

  #drop(id: string): void {
    this.#versions.delete(id);
    this.matcher.drop(id);
  }
}

/** Creates the seed of all indexes, if the file has no seed. Must be called in a transaction. */
export function completeIntelSeed({ intelState }: Pick<DetectTables, 'intelState'>, newSeed: () => number): void {
  if (intelState.get('seed') === undefined) intelState.putSync('seed', newSeed());
}
