import { type OpenTables, table } from '../../database/rows.ts';
import type { ScanRow } from './scans.ts';

export const scanTables = {
  /** scan id → row */
  scans: table<ScanRow, string>('scans', { strict: true }),
  /** change sequence → scan id; one key for each scan: the sequence of its latest change */
  scanLog: table<string, number>('scan-log', { strict: true }),
  /** [requested_at in epoch ms, scan id] → nothing */
  scanTimes: table<true, [number, string]>('scan-times'),
};

export type ScanTables = OpenTables<typeof scanTables>;
