import type { Table } from '../events/records.ts';

/** A damaged range of events, which results leave out. Times are epoch milliseconds. */
export interface DamagedEvents {
  readonly table: Table;
  readonly firstSeq: number;
  readonly rows: number;
  /** Times of the first and last event; absent if these are damaged, too. */
  readonly from?: number;
  readonly to?: number;
}

/** Known damage in siem.mdb. */
export interface StoreDamage {
  readonly events: readonly DamagedEvents[];
  /** Damaged rows by table and key, at most `limits.maxNamedDamage`. */
  readonly rows: readonly string[];
  /** Why events are no longer projected onto assets, alerts and figures; absent while they are. */
  readonly halted?: string;
  /** The background check of all data. Times are epoch milliseconds. */
  readonly scrub: {
    readonly pass_began_at: number;
    readonly checked: number;
    readonly total: number;
    readonly last_pass_at?: number;
    readonly last_pass_damaged?: number;
  };
}

/** Maximum number of ranges and of rows named in a message. */
const maxNamed = 3;

/** Returns the message of the finding `store_damaged`; undefined if nothing is damaged. */
export function damageMessage({ events, rows, halted }: StoreDamage): string | undefined {
  if (events.length === 0 && rows.length === 0 && halted === undefined) return undefined;
  const named = [
    ...few(events.map(describeRange)),
    ...few(rows.map((row) => `row ${row}`)),
    ...(halted === undefined ? [] : [`${halted}, so that detectors and figures do not see new events`]),
  ];
  return (
    `Stored data in siem.mdb is damaged: ${named.join('; ')}. Answers leave damaged events and rows out and ` +
    'say so; requests for a damaged resource are answered with an error. Everything else is served. Check the disk. ' +
    '`candor fsck` lists all damage of a stopped service; `candor restore` brings back what a backup from before the damage has.'
  );
}

/** Describes a damaged range. */
export function describeRange({ table, rows, from, to, firstSeq }: DamagedEvents): string {
  const span =
    from === undefined || to === undefined
      ? 'of unknown time'
      : `from ${new Date(from).toISOString()} to ${new Date(to).toISOString()}`;
  return `${rows} ${table} events ${span} (block ${firstSeq})`;
}

const few = (items: readonly string[]): readonly string[] =>
  items.length <= maxNamed ? items : [...items.slice(0, maxNamed), `${items.length - maxNamed} more`];
