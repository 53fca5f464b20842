import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { omitUndefined } from '../database/omit-undefined.ts';
import { takeDataFolder } from '../files/data-folder.ts';
import { requireSoundTree } from '../ledger/check/tree-damage.ts';
import type { AgentOptions } from '../ledger/keys/agent-keys.ts';
import { logLostAgain } from '../ledger/lost-entries.ts';
import { openLedger } from '../ledger/open.ts';
import { readLogPositions } from '../store/log-positions.ts';
import { noProjector } from '../store/waiting-projector.ts';
import { openStore } from '../store/writer.ts';
import { BackupError } from './backup-error.ts';
import { BackupFolder, type BackupRecord } from './backups.ts';
import { verifyCopy } from './verify.ts';

export interface OfflineBackupOptions {
  readonly dataDir: string;
  /** Folder of the backups. */
  readonly dir: string;
  readonly anchorPath: string | undefined;
  readonly keyPassphrase: string | undefined;
  readonly agent?: AgentOptions;
  /** age recipients to whom the private keys are encrypted. */
  readonly recipients?: readonly string[];
  /** Whether copies of the data folder are detected. Default: true. */
  readonly detectCopies?: boolean;
  readonly alertWindowMs: number;
  readonly productVersion: string;
}

/**
 * Backs up the data folder of a stopped service, in this process.
 *
 * @throws Error if a service holds the lock on the folder; BackupError if there is nothing to back up or the
 * log is degraded
 */
export async function backUpOffline(options: OfflineBackupOptions): Promise<BackupRecord> {
  const { dataDir, dir, anchorPath, keyPassphrase, agent, alertWindowMs, productVersion } = options;
  const missing = ['ledger.mdb', 'siem.mdb'].filter((name) => !existsSync(join(dataDir, name)));
  if (missing.length > 0) throw new BackupError(`${dataDir} has no ${missing.join(', ')}: there is nothing to back up`);
  const folder = takeDataFolder(dataDir);
  try {
    requireSoundTree(join(dataDir, 'siem.mdb'));
    const ledger = await openLedger({
      dataDir,
      ...omitUndefined({ agent, anchorPath, keyPassphrase }),
      detectCopies: options.detectCopies ?? true,
      logPositions: () => readLogPositions(dataDir),
    });
    try {
      const { health } = await ledger.status();
      if (health.state === 'degraded') throw new BackupError(health.advice);
      const store = openStore({ dataDir, alertWindowMs, projector: noProjector });
      try {
        await logLostAgain(store, ledger);
        const { recipients = [] } = options;
        const parts = { dir, dataDir, store, ledger, recipients, productVersion, now: Date.now };
        const backups = new BackupFolder({ ...parts, verify: (copy) => verifyCopy(copy) });
        void backups.recover();
        const { id } = await backups.begin('system');
        const record = await backups.ended(id);
        await backups.close();
        return record;
      } finally {
        await store.close();
      }
    } finally {
      await ledger.close();
    }
  } finally {
    folder.release();
  }
}
