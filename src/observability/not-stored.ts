import type { NotStored as Shown } from '../contract/resources/status.ts';
import type { NotStoredKind } from '../contract/vocabulary.ts';
import { limits } from '../limits.ts';

/** Records or requests of one sensor that were not stored for one reason. */
interface Row {
  /** The sensor; undefined if unknown. */
  sender: { readonly id: string; readonly name: string } | undefined;
  readonly kind: NotStoredKind;
  readonly reason: string;
  times: number;
  /** Time of the last occurrence, epoch milliseconds. */
  lastAt: number;
  /** Examples that help to find the cause, newest first. They contain no secrets. */
  samples: string[];
}

/** Counts that are added to a row. */
type Added = Pick<Row, 'kind' | 'reason' | 'times'> & { readonly sample?: string };

const otherReasons = 'other reasons';
/** How long a warning is shown after the last occurrence: a day. The row is kept. */
const recentMs = 24 * 3600 * 1000;
/** Maximum number of sensors named in warnings. */
const maxWarnings = 10;

/**
 * Counts sensor data that was not stored since the start, by sensor, kind and reason, with recent samples.
 * Counts are exact, but sensors and reasons beyond the limits are counted together.
 */
export class NotStored {
  readonly #rows = new Map<string, Row>();
  /** Number of rows by sensor. */
  readonly #ofSensors = new Map<string, number>();

  get rows(): Iterable<Readonly<Row>> {
    return this.#rows.values();
  }

  add(sender: Row['sender'], { kind, reason, times, sample }: Added, nowMs: number): void {
    const row = this.#row(sender, kind, reason);
    // The sensor may have been renamed.
    if (row.sender !== undefined) row.sender = sender;
    row.times += times;
    row.lastAt = nowMs;
    if (sample !== undefined) row.samples = [...new Set([sample, ...row.samples])].slice(0, limits.maxNotStoredSamples);
  }

  /** Returns the counts by kind. */
  counts(): Record<NotStoredKind, number> {
    const counts = { rejected: 0, ignored: 0, refused: 0, credentials: 0 };
    for (const { kind, times } of this.rows) counts[kind] += times;
    return counts;
  }

  shown(): Shown {
    const reasons = this.#latest().map(({ sender, lastAt, ...row }) => ({
      ...row,
      ...(sender && { sensor_id: sender.id, sensor: sender.name }),
      last_at: new Date(lastAt).toISOString(),
    }));
    return { ...this.counts(), reasons: reasons.slice(0, limits.maxNotStoredShown) };
  }

  /**
   * Returns a sentence for each sensor that lost data within the last day, the most recent loss first, and a
   * sentence for unknown senders.
   */
  warnings(nowMs: number): string[] {
    const recent = this.#latest().filter(({ kind, lastAt }) => kind !== 'ignored' && nowMs - lastAt < recentMs);
    const { '': unknown, ...bySensor } = Object.groupBy(recent, ({ sender }) => sender?.id ?? '');
    const sensors = Object.values(bySensor) as Row[][];
    const more = sensors.length - maxWarnings;
    return [
      ...sensors.slice(0, maxWarnings).map((rows) => warningOf(`sensor ${rows[0]?.sender?.name}`, rows)),
      ...(more > 0 ? [`Data of ${more} more ${more === 1 ? 'sensor was' : 'sensors were'} rejected.`] : []),
      ...(unknown === undefined ? [] : [warningOf('unknown senders', unknown)]),
    ];
  }

  #latest(): Row[] {
    return [...this.#rows.values()].sort((a, b) => b.lastAt - a.lastAt);
  }

  #row(sender: Row['sender'], kind: NotStoredKind, reason: string): Row {
    const id = sender?.id ?? '';
    const key = `${id} ${kind} ${reason}`;
    const known = this.#rows.get(key);
    if (known !== undefined) return known;
    const rows = this.#ofSensors.get(id) ?? 0;
    if (rows === 0 && id !== '' && this.#ofSensors.size >= limits.maxNotStoredSensors)
      return this.#row(undefined, kind, reason);
    if (rows >= limits.maxNotStoredReasons && reason !== otherReasons) return this.#row(sender, kind, otherReasons);
    const row = { sender, kind, reason, times: 0, lastAt: 0, samples: [] };
    this.#rows.set(key, row);
    this.#ofSensors.set(id, rows + 1);
    return row;
  }
}

/** Returns a sentence that names the most frequent reason. */
function warningOf(of: string, rows: readonly Row[]): string {
  const [{ kind, times, reason }] = rows.toSorted((a, b) => b.times - a.times) as [Row, ...Row[]];
  const subject = kind === 'credentials' ? 'Credentials' : kind === 'refused' ? 'Requests' : 'Records';
  const more = rows.length - 1;
  const others = more === 0 ? '' : `, and ${more} more ${more === 1 ? 'reason' : 'reasons'}`;
  return `${subject} of ${of} were rejected (${times.toLocaleString('en-US')} so far): ${reason}${others}.`;
}
