import type { AssetHistory } from '../../contract/resources/asset-history.ts';
import { assetActions } from '../../contract/vocabulary.ts';
import { oneOf } from './filter.ts';
import type { ListSpec } from './list.ts';

/** A record with its number, from 0, which orders records of the same time. */
export interface NumberedRecord {
  readonly number: number;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly record: Omit<AssetHistory, 'asset_id' | 'at'>;
}

/** Milliseconds and number as text that sorts like both. */
const order = ({ at, number }: NumberedRecord): string =>
  `${Math.max(at, 0).toString().padStart(16, '0')} ${number.toString().padStart(16, '0')}`;

/** The history of one asset. */
export const assetHistoryListOf = (assetId: string): ListSpec<NumberedRecord> => ({
  type: 'asset_history',
  of: assetId,
  terms: { action: oneOf(assetActions, ({ record }) => record.action) },
  sorts: { at: order },
  time: ({ at }) => at,
  names: ({ record }) => [record.action, record.ip_address, record.mac_address, record.hostname],
});
