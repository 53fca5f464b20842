import type { DnsRecord, NetworkRecord, WithSpans } from '../events/records.ts';
import type { Addresses } from './addresses.ts';
import type { Batch } from './batch.ts';
import type { Detectors } from './detectors.ts';

/** State that the readers of all formats share while one body is read. */
export interface ParseContext {
  readonly addresses: Addresses;
  /** The value of `?sensor=`, which overrides the sensor in records. */
  readonly sensor: string | undefined;
  readonly detectors: Detectors;
  readonly batch: Batch;
  /** Time of receipt, epoch milliseconds. */
  readonly receivedAt: number;
}

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
