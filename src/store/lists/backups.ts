import { backupStates } from '../../contract/vocabulary.ts';
import { oneOf } from './filter.ts';
import type { ListSpec } from './list.ts';

/** A backup before its manifest is read. */
export interface ListedBackup {
  readonly id: string;
  readonly state: (typeof backupStates)[number];
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

export const backupList: ListSpec<ListedBackup> = {
  type: 'backup',
  terms: { state: oneOf(backupStates, (backup) => backup.state) },
  sorts: { created_at: (backup) => backup.createdAt },
  time: (backup) => backup.createdAt,
  names: (backup) => [backup.id],
};
