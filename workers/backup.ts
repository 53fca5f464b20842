import { verifyCopy } from '../src/backup/verify.ts';
import { exposeTasks, taskCancelled } from '../src/rpc/pool.ts';

const tasks = {
  verify: (folder: string) =>
    verifyCopy(folder, () => {
      if (taskCancelled()) throw new Error('given up');
    }),
};

/** For `createPool<BackupTasks>`. */
export type BackupTasks = typeof tasks;

export default exposeTasks(tasks);
