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
