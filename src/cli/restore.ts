import { join } from 'node:path';
import { Command } from 'commander';
import {
  anchorOption,
  type DataFolderOptions,
  dataDirOption,
  dataFolderConfig,
  exitCodeOfFolder,
} from './data-folder-options.ts';
import { CommandError, type ExitCode, exitCodes } from './exit-codes.ts';
import { jsonOption } from './options.ts';
import { output } from './output.ts';

interface Options extends DataFolderOptions {
  readonly replace?: true;
  readonly identity?: string;
  readonly json?: true;
}

export function restoreCommand(done: (code: ExitCode) => void): Command {
  return new Command('restore')
    .description('put a backup into a data folder, with an entry in its log; the service must be stopped')
    .argument('<backup>', 'folder of the backup')
    .addOption(dataDirOption())
    .addOption(anchorOption())
    .option('--replace', 'move aside the log, events and keys that are there; nothing is deleted')
    .option(
      '--identity <file>',
      'age identity: extract the private keys of the backup into a folder aside; the restored log has new ones',
    )
    .addOption(jsonOption())
    .action(async (backup: string, options: Options) => done(await run(backup, options)));
}

async function run(backup: string, options: Options): Promise<ExitCode> {
  // Only this command and start load the native parts.
  const { restoreBackup } = await import('../backup/restore.ts');
  const { agentSettings } = await import('../config/part-settings.ts');
  const { DamagedBackupError } = await import('../backup/backup-error.ts');
  let dataDir: string;
  let restored: Awaited<ReturnType<typeof restoreBackup>>;
  try {
    const config = await dataFolderConfig(options);
    const { key_passphrase: keyPassphrase, 'ledger.origin': origin } = config;
    dataDir = config.data_dir;
    restored = await restoreBackup({
      backup,
      dataDir,
      anchorPath: config['ledger.anchor_path'] ?? join(dataDir, 'anchor.json'),
      replace: options.replace ?? false,
      ...(keyPassphrase === undefined ? {} : { keyPassphrase }),
      agent: agentSettings(config),
      ...(options.identity === undefined ? {} : { identityFile: options.identity }),
      ...(origin === undefined ? {} : { origin }),
      now: Date.now,
    });
  } catch (error) {
    const code = error instanceof DamagedBackupError ? exitCodes.refused : exitCodeOfFolder(error as Error);
    throw new CommandError((error as Error).message, code);
  }

  const { backupId, sth, replaced, aside, settings, entry, resumed, privateKeys } = restored;
  output(options.json ?? false).result(
    [
      `restored     ${backupId}${resumed ? ', begun by an earlier run' : ''}`,
      `data folder  ${dataDir}`,
      `log size     ${sth?.tree_size ?? 0}, and entries up to leaf ${entry.leaf_index}, which record this restore`,
      `replaced     ${replaced === undefined ? 'no log that could be read' : `a log of ${replaced.tree_size} leaves`}`,
      `moved to     ${aside ?? 'nothing was there'}`,
      ...(privateKeys === undefined
        ? []
        : [`old keys     ${privateKeys}: keep them offline; no log uses them`]),
      `settings     ${settingsTold[settings ?? 'none']}`,
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

const settingsTold = {
  none: 'none came with the backup',
  kept: 'config.json stays as it is; the backup has another',
  restored: 'config.json came with the backup: look at the paths and addresses in it before you start',
} as const;
