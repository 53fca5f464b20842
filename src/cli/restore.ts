import { join } from 'node:path';
import { Command } from 'commander';
import { CommandError, type ExitCode, exitCodes } from '../service/exit-codes.ts';
import {
  anchorOption,
  type DataFolderOptions,
  dataDirOption,
  dataFolderConfig,
  exitCodeOfFolder,
} from './data-folder-options.ts';
import { jsonOption } from './options.ts';
import { output } from './output.ts';

interface Options extends DataFolderOptions {
  readonly replace?: true;
  readonly identity?: string;
  readonly json?: true;
}

export function restoreCommand(done: (code: ExitCode) => void): Command {
  return new Command('restore')
    .description('restore a backup into a data folder and record it in the log; the service must be stopped')
    .argument('<backup>', 'folder of the backup')
    .addOption(dataDirOption())
    .addOption(anchorOption())
    .option('--replace', 'move an existing log, events and keys aside; nothing is deleted')
    .option(
      '--identity <file>',
      'age identity: extract the private keys of the backup into a separate folder; the restored log has new ones',
    )
    .addOption(jsonOption())
    .action(async (backup: string, options: Options) => done(await run(backup, options)));
}

async function run(backup: string, options: Options): Promise<ExitCode> {
  // Only commands that open a data folder load the native modules.
  const { restoreBackup } = await import('../backup/restore.ts');
  const { keySettings } = await import('../config/part-settings.ts');
  const { DamagedBackupError } = await import('../backup/backup-error.ts');
  let dataDir: string;
  let restored: Awaited<ReturnType<typeof restoreBackup>>;
  try {
    const config = await dataFolderConfig(options);
    dataDir = config.data_dir;
    restored = await restoreBackup({
      backup,
      dataDir,
      anchorPath: config['ledger.anchor_path'] ?? join(dataDir, 'anchor.json'),
      replace: options.replace ?? false,
      ...keySettings(config),
      ...(options.identity === undefined ? {} : { identityFile: options.identity }),
      now: Date.now,
    });
  } catch (error) {
    const code = error instanceof DamagedBackupError ? exitCodes.refused : exitCodeOfFolder(error as Error);
    throw new CommandError((error as Error).message, code);
  }

  const { backupId, sth, replaced, aside, settings, entry, resumed, privateKeys } = restored;
  output(options.json ?? false).result(
    [
      `restored     ${backupId}${resumed ? ' (completed an interrupted restore)' : ''}`,
      `data folder  ${dataDir}`,
      `log size     ${sth?.tree_size ?? 0}, plus entries up to leaf ${entry.leaf_index} that record this restore`,
      `replaced     ${replaced === undefined ? 'no readable log' : `a log of ${replaced.tree_size} leaves`}`,
      `moved to     ${aside ?? 'nothing to move'}`,
      ...(privateKeys === undefined ? [] : [`old keys     ${privateKeys}: store them offline; no log uses them`]),
      `settings     ${settingsText[settings ?? 'none']}`,
      'The log continues as a new life with new keys and a new origin: send auditors and witnesses the new vkey.',
    ],
    {
      status: 'restored',
      backup_id: backupId,
      data_dir: dataDir,
      tree_size: entry.tree_size,
      backup_tree_size: sth?.tree_size ?? 0,
      backup_root_hash: sth?.root_hash,
      replaced_tree_size: replaced?.tree_size,
      replaced_root_hash: replaced?.root_hash,
      replaced_in: aside,
      settings,
      private_keys_in: privateKeys,
      leaf_index: entry.leaf_index,
      resumed,
    },
  );
  return exitCodes.ok;
}

const settingsText = {
  none: 'none in the backup',
  kept: 'existing config.json kept; the backup has a different one',
  restored: 'config.json restored from the backup: check its paths and addresses before you start',
} as const;
