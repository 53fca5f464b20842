import { backupText } from '../backup-reads.ts';
import type { Handler } from '../context.ts';
import { requireLog } from '../log-required.ts';
import { accepted } from '../reply.ts';

export const createBackup: Handler<'createBackup'> = async ({ services, identity, audited }) => {
  await requireLog(services);
  const { id, attributes } = await services.backups.begin(identity.principal.id);
  // Its entry has its id.
  audited?.noteEntries([id]);
  return accepted('backup', id, backupText(attributes), `/api/v1/backups/${id}`);
};
