import { backupText } from '../backup-reads.ts';
import type { Handler } from '../context.ts';
import { resource } from '../reply.ts';

export const getBackup: Handler<'getBackup'> = async ({ services, params }) => {
  const { id, attributes } = await services.backups.get(params.backup_id.toLowerCase());
  return resource('backup', id, backupText(attributes));
};
