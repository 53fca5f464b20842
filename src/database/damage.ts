import type { Table } from '../events/records.ts';

/** A damaged range of events, which is missing from results. Times are epoch milliseconds. */
export interface DamagedEvents {
  readonly table: Table;
  readonly firstSeq: number;
  readonly rows: number;
  /** Earliest event time; absent if the times are damaged too. */
  readonly from?: number;
  /** Latest event time; absent if the times are damaged too. */
  readonly to?: number;
}

/** Known damage in siem.mdb. */
export interface StoreDamage {
  readonly events: readonly DamagedEvents[];
  /** Damaged rows by table and key, at most `limits.maxNamedDamage`. */
  readonly rows: readonly string[];
  /**
   * The reason why events are no longer projected to assets, alerts and figures; absent if they are
   * projected.
   */
  readonly halted?: string;
  /** Whether an error stopped the projection of events until the next start. */
  readonly stopped: boolean;
  /** Events that are not projected, because processing them failed. */
  readonly skipped: readonly { readonly id: string; readonly reason: string }[];
  /** The background check of all data. Times are epoch milliseconds. */
  readonly scrub: {
    readonly pass_began_at: number;
    readonly checked: number;
    readonly total: number;
    readonly last_pass_at?: number;
    readonly last_pass_damaged?: number;
  };
}

export const asLastResort = 'Only if that does not help';

/**
 * Returns the advice to restore a backup, with the loss that this causes. The advice must be the end of a message.
 *
 * @param when - condition under which a restore helps
 * @param upTo - the last entry that may be lost
 */
export function restoreAdvice(when = asLastResort, upTo = ''): string {
  return (
    `${when}: \`candor restore --replace <backup>\`. The restore loses every entry after the backup${upTo} and all events since ` +
    'then; the log continues as a new life under new keys, which every auditor sees.'
  );
}

/** The advice for a siem.mdb that the service cannot use. */
export const unusableStoreAdvice = `Copy the data folder, check the disk and run \`candor fsck\`, which lists all damage. ${restoreAdvice()}`;

/** Maximum number of ranges, and maximum number of rows, named in a message. */
const maxNamed = 3;

/** Returns the message of the finding `store_damaged`; undefined if there is no damage. */
export function damageMessage({
  events,
  rows,
  halted,
}: Pick<StoreDamage, 'events' | 'rows' | 'halted'>): string | undefined {
  if (events.length === 0 && rows.length === 0 && halted === undefined) return undefined;
  const named = [
    ...few(events.map(describeRange)),
    ...few(rows.map((row) => `row ${row}`)),
    ...(halted === undefined ? [] : [`${halted}, so that detectors and statistics do not include new events`]),
  ];
  return (
    `Stored data in siem.mdb is damaged: ${named.join('; ')}. Responses leave out damaged events and rows, ` +
    'and report this; requests for a damaged resource fail with an error. All other data is served. Check the disk. ' +
    `\`candor fsck\` lists all damage of a stopped service. ${restoreAdvice('To recover the damaged data')}`
  );
}

/** Returns the message of the finding `events_skipped`; undefined if all events are processed. */
export function skippedMessage({ skipped, stopped }: Pick<StoreDamage, 'skipped' | 'stopped'>): string | undefined {
  if (skipped.length === 0 && !stopped) return undefined;
  const named = few(skipped.map(({ id }) => id)).join('; ');
  return [
    ...(skipped.length === 0
      ? []
      : [`Processing failed for stored events: ${named}. Detectors, assets and statistics leave them out.`]),
    ...(stopped
      ? [
          'Processing of events has stopped: detectors, assets and statistics do not include new events. Restart the service to try again; if processing stops again, update to a version with a fix before the events expire.',
        ]
      : []),
    'Queries and exports return all events. The cause is a bug, and the log of the service has the error: report it.',
  ].join(' ');
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
