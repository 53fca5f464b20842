import { resolve } from 'node:path';
import { Option } from 'commander';
import type { Config } from '../config/settings.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';

/** What commands on the data folder of a stopped service are told of it. */
export interface DataFolderOptions {
  readonly dataDir?: string;
  readonly anchor?: string;
}

export function dataDirOption(): Option {
  return new Option('--data-dir <folder>', 'data folder (default: CANDOR_DATA_DIR)');
}

export function anchorOption(): Option {
  return new Option(
    '--anchor <file>',
    'the anchor, where it lies elsewhere (default: CANDOR_LEDGER_ANCHOR_PATH, for the folder CANDOR_DATA_DIR)',
  );
}

/**
 * The configuration, for the folder that the command names. The configured anchor belongs to the configured folder
 * only: a drill in another one must not touch what vouches for the log that runs.
 *
 * @throws ConfigError
 */
export async function dataFolderConfig({ dataDir, anchor }: DataFolderOptions): Promise<Config> {
  // Only commands that open a folder load it.
  const { loadConfig } = await import('../config/load.ts');
  const configured = loadConfig(process.env);
  const config =
    dataDir === undefined ? configured : loadConfig({ ...process.env, CANDOR_DATA_DIR: dataDir });
  const isConfigured = resolve(config.data_dir) === resolve(configured.data_dir);
  const anchorPath = anchor ?? (isConfigured ? config['ledger.anchor_path'] : undefined);
  return { ...config, 'ledger.anchor_path': anchorPath };
}

/** How a command ends that could not take the folder: while another process has it, trying again can help. */
export function exitCodeOfFolder({ message }: Error): ExitCode {
  return /is in use by another process/.test(message) ? exitCodes.unavailable : exitCodes.failed;
}
