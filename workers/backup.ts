import { verifyCopy } from '../src/backup/verify.ts';
import { exposeTasks, taskCancelled } from '../src/rpc/pool.ts';

const tasks = {
  verify: (folder: string) =>
    verifyCopy(folder, () => {
      if (taskCancelled()) throw new Error('cancelled');
    }),
};

/** The task table for `createPool<BackupTasks>`. */
export type BackupTasks = typeof tasks;

export default exposeTasks(tasks);
