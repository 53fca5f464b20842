import type { DnsRecord, NetworkRecord } from '../events/records.ts';

/** What is known of a record from what it came in. */
export interface Said {
  /** Its explicit id, a UUID in lower case: over what it says. */
  id: string | undefined;
  /** Who sent it, where it doesn't say so itself. */
  sensor: string | undefined;
  /** When it happened, epoch milliseconds, where it doesn't say so itself: records that are stored do, or are refused. */
  at: number | undefined;
}

export function complete(record: NetworkRecord | DnsRecord, { id, sensor }: Said): void {
  if (id !== undefined) record.id = id;
  record.sensor ??= sensor;
}
