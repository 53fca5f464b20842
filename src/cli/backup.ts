import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import type { Client } from '../client/client.ts';
import type { Backup } from '../contract/resources/backup.ts';
import { errorCodes, ServiceError } from '../errors.ts';
import { CommandError, type ExitCode, exitCodeOfStatus, exitCodes } from '../service/exit-codes.ts';
import { anchorOption, type DataFolderOptions, dataFolderConfig, exitCodeOfFolder } from './data-folder-options.ts';
import { credentials, jsonOption, serviceUrl, tokenOption } from './options.ts';
import { type Output, output } from './output.ts';

interface Options extends DataFolderOptions {
  readonly token?: string;
  readonly json?: true;
}

/** Interval at which a running service is polled for progress. */
const pollMs = 500;

export function backupCommand(done: (code: ExitCode) => void): Command {
  return new Command('backup')
    .description('make a verified backup of a service: a running one by its URL, a stopped one by its data folder')
    .argument('[url]', 'URL of the running service; needs a token with role admin', serviceUrl)
    .option('--data-dir <folder>', 'data folder of a stopped service, instead of a URL')
    .addOption(anchorOption())
    .addOption(tokenOption())
    .addOption(jsonOption())
    .action(async (url: string | undefined, options: Options) => done(await run(url, options)));
}

async function run(url: string | undefined, options: Options): Promise<ExitCode> {
  if ((url === undefined) === (options.dataDir === undefined)) {
    throw new CommandError('pass either the URL of a running service or --data-dir', exitCodes.usage);
  }
  const backup = url === undefined ? await offline(options) : await online(url, options);
  return report(backup, output(options.json ?? false));
}

interface BackupResource {
  readonly id: string;
  readonly attributes: Backup;
}

async function online(url: string, options: Options): Promise<BackupResource> {
  // Imported here because the client loads the complete API contract, which other commands don't need.
  const { createClient } = await import('../client/client.ts');
  const client = createClient({ baseUrl: url, ...credentials(options) });
  try {
    const started = (await client.call('createBackup')).data;
    return await waitUntilEnded(client, started);
  } catch (error) {
    throw commandError(error);
  }
}

function commandError(error: unknown, more = ''): unknown {
  if (!(error instanceof ServiceError)) return error;
  const code = exitCodeOfStatus(errorCodes[error.code].status);
  return new CommandError(`${error.code}: ${error.message}${more}`, code);
}

/** Polls until the backup has ended. OVERLOADED is not an error: the next poll tries again. */
async function waitUntilEnded(client: Client, started: BackupResource): Promise<BackupResource> {
  for (let backup = started; ; ) {
    if (backup.attributes.state !== 'running') return backup;
    await sleep(pollMs);
    try {
      backup = (await client.call('getBackup', { params: { backup_id: started.id } })).data;
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'OVERLOADED') continue;
      throw commandError(
        error,
        `; backup ${started.id} was started: check its progress with GET /api/v1/backups/${started.id}`,
      );
    }
  }
}

/** Backs up a stopped service. Opens its folder as the service does, with the same checks of the log. */
async function offline(options: DataFolderOptions): Promise<BackupResource> {
  // Only this path loads the native modules.
  const { backUpOffline } = await import('../backup/offline-backup.ts');
  const { productVersion } = await import('../service/version.ts');
  const { agentSettings } = await import('../config/part-settings.ts');
  try {
    const config = await dataFolderConfig(options);
    return await backUpOffline({
      dataDir: config.data_dir,
      dir: config['backup.dir'] ?? join(config.data_dir, 'backups'),
      anchorPath: config['ledger.anchor_path'],
      keyPassphrase: config.key_passphrase,
      agent: agentSettings(config),
      recipients: config['backup.recipient'],
      detectCopies: config['ledger.detect_copies'],
      alertWindowMs: config['alerts.window_ms'],
      productVersion: productVersion(),
    });
  } catch (error) {
    const code = exitCodeOfFolder(error as Error);
    const inUse = code === exitCodes.unavailable;
    const advice = inUse ? ' (to back up a running service, use candor backup <url>)' : '';
    throw new CommandError(`${(error as Error).message}${advice}`, code);
  }
}

function report({ id, attributes }: BackupResource, out: Output): ExitCode {
  const { state, error, path, size, events, alerts, private_keys, sth, transparency } = attributes;
  const leaf = transparency === undefined ? undefined : transparency.leaf_index;
  const fields = {
    status: state,
    backup_id: id,
    error,
    path,
    size,
    events,
    alerts,
    private_keys,
    tree_size: sth?.tree_size ?? 0,
    root_hash: sth?.root_hash,
    leaf_index: leaf,
  };
  if (state === 'failed') {
    out.result([`backup ${id} failed: ${error ?? 'unknown'}`], fields);
    return exitCodes.failed;
  }
  out.result(
    [
      `backup       ${id}`,
      `path         ${path ?? ''}`,
      `size         ${size} bytes`,
      `events       ${events ?? 0}`,
      `alerts       ${alerts ?? 0}`,
      `private keys ${privateKeysText[private_keys ?? 'none']}`,
      `log size     ${sth?.tree_size ?? 0}`,
      `root         ${sth?.root_hash ?? 'none (the log is empty)'}`,
      `logged as    ${leaf === undefined ? 'not yet' : `leaf ${leaf}`}`,
      'Verified after writing. Keep a copy elsewhere.',
    ],
    fields,
  );
  return exitCodes.ok;
}

const privateKeysText = {
  none: 'not included; a restored log generates new ones',
  encrypted: 'in keys.age, encrypted to the recipients in backup.recipient',
  included: 'included: protect this backup like the data folder',
} as const;
