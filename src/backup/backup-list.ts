import { backupStates } from '../contract/vocabulary.ts';
import { oneOf } from '../database/lists/filter.ts';
import type { ListSpec } from '../database/lists/list.ts';

/** A backup in the list, before its manifest is read. */
export interface ListedBackup {
  readonly id: string;
  readonly state: (typeof backupStates)[number];
  /** When the backup was created, epoch milliseconds. */
  readonly createdAt: number;
}

export const backupList: ListSpec<ListedBackup> = {
  type: 'backup',
  terms: { state: oneOf(backupStates, (backup) => backup.state) },
  sorts: { created_at: (backup) => backup.createdAt },
  time: (backup) => backup.createdAt,
  names: (backup) => [backup.id],
};
