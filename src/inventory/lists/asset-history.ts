import type { AssetHistory } from '../../contract/resources/asset-history.ts';
import { assetActions } from '../../contract/vocabulary.ts';
import { oneOf } from '../../database/lists/filter.ts';
import type { ListSpec } from '../../database/lists/list.ts';

/** A record with its number, from 0, which orders records of the same time. */
export interface NumberedRecord {
  readonly number: number;
  /** Time of the record, epoch milliseconds. */
  readonly at: number;
  readonly record: Omit<AssetHistory, 'asset_id' | 'at'>;
}

/** Returns milliseconds and number as text that sorts by time, then by number. */
const order = ({ at, number }: NumberedRecord): string =>
  `${Math.max(at, 0).toString().padStart(16, '0')} ${number.toString().padStart(16, '0')}`;

/** Returns the definition of the list of one asset's history. */
export const assetHistoryListOf = (assetId: string): ListSpec<NumberedRecord> => ({
  type: 'asset_history',
  of: assetId,
  terms: { action: oneOf(assetActions, ({ record }) => record.action) },
  sorts: { at: order },
  time: ({ at }) => at,
  names: ({ record }) => [record.action, record.ip_address, record.mac_address, record.hostname],
});
