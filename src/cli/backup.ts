import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import type { Client } from '../client/client.ts';
import type { Backup } from '../contract/resources/backup.ts';
import { errorCodes, ServiceError } from '../errors.ts';
import {
  anchorOption,
  type DataFolderOptions,
  dataFolderConfig,
  exitCodeOfFolder,
} from './data-folder-options.ts';
import { CommandError, type ExitCode, exitCodeOfStatus, exitCodes } from './exit-codes.ts';
import { credentials, jsonOption, serviceUrl, tokenOption } from './options.ts';
import { type Output, output } from './output.ts';

interface Options extends DataFolderOptions {
  readonly token?: string;
  readonly json?: true;
}

/** How often a running service is asked how far it is. */
const pollMs = 500;

export function backupCommand(done: (code: ExitCode) => void): Command {
  return new Command('backup')
    .description(
      'copy a whole service, verified: a running one by its address, a stopped one by its data folder',
    )
    .argument('[url]', 'address of the running service; needs a token with role admin', serviceUrl)
    .option('--data-dir <folder>', 'data folder of a stopped service, instead of an address')
    .addOption(anchorOption())
    .addOption(tokenOption())
    .addOption(jsonOption())
    .action(async (url: string | undefined, options: Options) => done(await run(url, options)));
}

async function run(url: string | undefined, options: Options): Promise<ExitCode> {
  if ((url === undefined) === (options.dataDir === undefined)) {
    throw new CommandError('name either the address of a running service or --data-dir', exitCodes.usage);
  }
  const made = url === undefined ? await offline(options) : await online(url, options);
  return report(made, output(options.json ?? false));
}

interface Made {
  readonly id: string;
  readonly attributes: Backup;
}

async function online(url: string, options: Options): Promise<Made> {
  // With the whole interface behind it: no other command has the client.
  const { createClient } = await import('../client/client.ts');
  const client = createClient({ baseUrl: url, ...credentials(options) });
  try {
    const begun = (await client.call('createBackup')).data;
    return await whenEnded(client, begun);
  } catch (error) {
    throw toldOf(error);
  }
}

function toldOf(error: unknown, more = ''): unknown {
  if (!(error instanceof ServiceError)) return error;
  const code = exitCodeOfStatus(errorCodes[error.code].status);
  return new CommandError(`${error.code}: ${error.message}${more}`, code);
}

/** A service that is busy meanwhile is asked again. */
async function whenEnded(client: Client, begun: Made): Promise<Made> {
  for (let made = begun; ; ) {
    if (made.attributes.state !== 'running') return made;
    await sleep(pollMs);
    try {
      made = (await client.call('getBackup', { params: { backup_id: begun.id } })).data;
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'OVERLOADED') continue;
      throw toldOf(
        error,
        `; backup ${begun.id} was begun, and GET /api/v1/backups/${begun.id} tells how far it is`,
      );
    }
  }
}

/** Opens the folder as a service does, which also makes sure that its log is one that can go on. */
async function offline(options: DataFolderOptions): Promise<Made> {
  // Only this way loads the native parts.
  const { backUpStopped } = await import('../backup/stopped.ts');
  const { productVersion } = await import('../version.ts');
  const { agentSettings } = await import('../config/part-settings.ts');
  try {
    const config = await dataFolderConfig(options);
    return await backUpStopped({
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
    const advice = inUse ? ' (a running service is backed up by its address: candor backup <url>)' : '';
    throw new CommandError(`${(error as Error).message}${advice}`, code);
  }
}

function report({ id, attributes }: Made, out: Output): ExitCode {
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
      `private keys ${privateKeysShown[private_keys ?? 'none']}`,
      `log size     ${sth?.tree_size ?? 0}`,
      `root         ${sth?.root_hash ?? 'none: the log is empty'}`,
      `logged as    ${leaf === undefined ? 'not yet' : `leaf ${leaf}`}`,
      'Verified after writing. Keep a copy elsewhere.',
    ],
    fields,
  );
  return exitCodes.ok;
}

const privateKeysShown = {
  none: 'not included; a restored log makes new ones',
  encrypted: 'encrypted in keys.age, to the recipients in backup.recipient',
  included: 'included: protect this backup like the data folder',
} as const;
