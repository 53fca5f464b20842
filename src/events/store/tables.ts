import { type OpenTables, table } from '../../database/rows.ts';
import type { Table } from '../records.ts';
import type { ExpiredKey, ExpiredRow } from './expired.ts';
import type { KeptClock } from './retention-clock.ts';
import type { SealRow } from './seal-store.ts';

export const eventTables = {
  /** [table of events, reason] → events that retention removed */
  expired: table<ExpiredRow, ExpiredKey>('expired-events'),
  /** `clock` → state of the retention clock */
  retentionState: table<KeptClock, 'clock'>('retention-state'),
  /** number from 1 → ranges of events that one log entry covers */
  eventSeals: table<SealRow, number>('event-seals', { strict: true }),
  /** [table of events, last sequence of a range] → number of the range's row in `eventSeals` */
  eventSealPlaces: table<number, [Table, number]>('event-seal-places', { strict: true }),
  /** table of events → the first sequence that is not sealed yet; absent while sealing is off */
  sealedUpTo: table<number, Table>('sealed-up-to', { strict: true }),
};

export type EventTables = OpenTables<typeof eventTables>;
