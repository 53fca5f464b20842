import { resolve } from 'node:path';
import { Option } from 'commander';
import type { Config } from '../config/settings.ts';
import { CommandError, type ExitCode, exitCodes } from '../service/exit-codes.ts';

/** Options of commands that work on the data folder of a stopped service. */
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
    'path of the anchor, if outside the data folder (default: CANDOR_LEDGER_ANCHOR_PATH, for the folder CANDOR_DATA_DIR)',
  );
}

/**
 * Loads the configuration for the given folder. The configured anchor path applies only to the configured
 * folder, so that a restore drill in another folder never overwrites the anchor of the live log.
 *
 * @throws ConfigError
 */
export async function dataFolderConfig({ dataDir, anchor }: DataFolderOptions): Promise<Config> {
  // Only commands that open a folder load this module.
  const { loadConfig } = await import('../config/load.ts');
  const configured = loadConfig(process.env);
  const config = dataDir === undefined ? configured : loadConfig({ ...process.env, CANDOR_DATA_DIR: dataDir });
  const isConfigured = resolve(config.data_dir) === resolve(configured.data_dir);
  const anchorPath = anchor ?? (isConfigured ? config['ledger.anchor_path'] : undefined);
  return { ...config, 'ledger.anchor_path': anchorPath };
}

/** Runs a step that opens a folder. Its failure is a command error, with the exit code of `exitCodeOfFolder`. */
export async function orFail<T>(step: () => T | Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    throw new CommandError((error as Error).message, exitCodeOfFolder(error as Error));
  }
}

/**
 * Returns the exit code for a command that could not lock the folder: if another process holds the folder, a retry can
 * succeed.
 */
export function exitCodeOfFolder({ message }: Error): ExitCode {
  return /is in use by another process/.test(message) ? exitCodes.unavailable : exitCodes.failed;
}
