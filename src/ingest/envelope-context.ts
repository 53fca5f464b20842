import type { DnsRecord, NetworkRecord, WithSpans } from '../events/records.ts';

/** Data about a record that its envelope contains. */
export interface EnvelopeContext {
  /** Explicit id of the record, a UUID in lower case; overrides the id in the record. */
  id: string | undefined;
  /** The sender, for records that do not name a sensor. */
  sensor: string | undefined;
  /**
   * Time in epoch milliseconds, for ignored records without a time. Stored records must contain their time.
   */
  at: number | undefined;
}

export function complete(record: WithSpans<NetworkRecord | DnsRecord>, { id, sensor }: EnvelopeContext): void {
  if (id !== undefined) record.id = id;
  record.sensor ??= sensor;
}
