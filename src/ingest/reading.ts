import type { Addresses } from './addresses.ts';
import type { Batch } from './batch.ts';
import type { Detectors } from './detectors.ts';

/** What the readers of all formats share while one body is read. */
export interface Reading {
  readonly addresses: Addresses;
  /** `?sensor=`: names the sender, over what its records say. */
  readonly sensor: string | undefined;
  readonly detectors: Detectors;
  readonly batch: Batch;
  /** Epoch milliseconds. */
  readonly receivedAt: number;
}
