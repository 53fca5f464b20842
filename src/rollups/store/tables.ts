import { type OpenTables, table } from '../../database/rows.ts';
import type { BucketKey, RollupState } from './rollup-tables.ts';

export const rollupTables = {
  /** bucket → its counters and distinct counts */
  rollupCounts: table<Buffer, BucketKey>('rollup-counts', { encoding: 'binary' }),
  /** bucket → its complete rollup */
  rollupSketches: table<Buffer, BucketKey>('rollup-sketches', { encoding: 'binary' }),
  /** sequence → additions to the buckets */
  rollupDeltas: table<Buffer, number>('rollup-deltas', { encoding: 'binary' }),
  /** bucket → alerts last seen in the bucket, by severity and status */
  rollupAlerts: table<Buffer, BucketKey>('rollup-alerts', { encoding: 'binary' }),
  rollupState: table<RollupState, 'rollups'>('rollup-state'),
};

export type RollupTables = OpenTables<typeof rollupTables>;
