import { realpath, stat } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Config as ConfigResource } from '../contract/resources/config.ts';
import { invalidField, ServiceError } from '../errors.ts';
import { replaceFile } from '../files/durable-file.ts';
import { VolumeQueue } from '../files/volume-queue.ts';
import { writeRefusal } from '../files/write-errors.ts';
import { limits } from '../limits.ts';
import { ConfigError } from './config-error.ts';
import { type ConfigFile, type ConfigText, identityOf, parseConfig, readConfigFileLater } from './config-file.ts';
import { describeSettings, differences, shownValues } from './describe.ts';
import { type Changes, editConfig } from './edit.ts';
import type { GivenSettings } from './given.ts';
import { combine, type Environment, fileOf, type LoadedConfig, readEnvironment } from './load.ts';
import { fieldOf, readChanges } from './read-changes.ts';
import type { Config, SettingName } from './settings.ts';

/** The file in the data folder may contain secrets. A file named by CANDOR_CONFIG keeps its mode. */
const privateMode = 0o600;

class ChangedMeanwhile extends Error {}

/**
 * Replaces the file that was read. Returns false and changes nothing if the file has changed since.
 *
 * @throws CONFLICT if the file cannot be replaced as it is; UNAVAILABLE if the disk is full or fails
 */
async function writeConfigFile(file: ConfigFile, before: ConfigText, text: string): Promise<boolean> {
  try {
    // A link is kept, and its target is replaced.
    const path = before.identity === undefined ? file.path : await realpath(file.path);
    const written = async () => {
      const found = await stat(file.path, { bigint: true }).catch(() => undefined);
      if ((found && identityOf(found)) !== before.identity) throw new ChangedMeanwhile();
    };
    const mode = file.named ? before.mode : privateMode;
    await replaceFile(path, text, { mode, exactMode: true, written });
    return true;
  } catch (error) {
    if (error instanceof ChangedMeanwhile) return false;
    const refusal = writeRefusal(error);
    if (refusal === undefined) throw error;
    const { code, reason } = refusal;
    throw new ServiceError(code, `nothing was stored: ${file.path} cannot be written (${reason})`);
  }
}

/** The settings in effect, and those in the file for the next start. */
export interface StoredSettings {
  /** Reads the file at each call. If a start would reject the file, the result has a `problem` instead of an error. */
  read(): Promise<ConfigResource>;
  /**
   * Stores values by setting, all or none; null, or the default, removes a setting from the file. Calls run one after
   * another, and each reads the file again, so that no call undoes the changes of another call or of an editor.
   * Resolves when the file is flushed.
   *
   * @param stored - called after the file was written; not called if the file already had these values
   * @throws INVALID_REQUEST with `settings.<name>`; CONFLICT if the file cannot be used or written as it is;
   *   UNAVAILABLE if the disk is full or fails. Nothing is stored then.
   */
  change(values: Readonly<Record<string, unknown>>, stored?: () => void): Promise<ConfigResource>;
}

/** A start-up requirement that is not a setting itself, such as a file that a setting refers to. */
export interface Requirement {
  /** The settings that the requirement concerns. Errors name the first setting. */
  readonly settings: readonly [SettingName, ...SettingName[]];
  /** Checks the requirement, without blocking this thread. @throws Error with a one-line message */
  check(config: Config): void | Promise<void>;
}

/**
 * Opens the settings.
 *
 * @param active - the settings of this process: the same environment, loaded at its start
 * @param requirements - a change of their settings that violates a requirement is refused; an existing violation is
 * reported as `problem`
 * @param volumes - the queues of work on volumes; default: queues with the usual deadlines
 */
export function openStoredSettings(
  env: Environment,
  active: LoadedConfig,
  requirements: readonly Requirement[] = [],
  volumes?: Parts['volumes'],
): StoredSettings {
  const environment = readEnvironment(env);
  const file = fileOf(env, environment);
  const parts: Parts = {
    ...{ environment, file, requirements },
    volumes: volumes ?? {
      file: new VolumeQueue(`the volume of ${file.path}`),
      paths: new VolumeQueue('the path'),
    },
  };
  const settings = describeSettings(active, environment);
  let turn: Promise<unknown> = Promise.resolve();

  async function read(): Promise<ConfigResource> {
    return { active: shownValues(active), ...(await pending()), settings };
  }

  async function pending(): Promise<Pick<ConfigResource, 'pending' | 'restart_required' | 'problem'>> {
    try {
      const next = combine(environment, (await parts.volumes.file.run(() => readConfigFileLater(file))).given);
      const unmet = await unmetBy(next, parts);
      return { ...differences(active, next), ...(unmet === undefined ? {} : { problem: unmet.message }) };
    } catch (error) {
      if (!(error instanceof ConfigError || error instanceof ServiceError)) throw error;
      return { pending: {}, restart_required: false, problem: error.message };
    }
  }

  return {
    read,
    async change(values, stored) {
      const changes = readChanges(values, environment);
      const mine = turn.then(() => store(parts, changes));
      turn = mine.catch(() => undefined);
      if (await mine) stored?.();
      return read();
    },
  };
}

/** Maximum attempts to write a file that other processes are changing. */
const maxTries = 3;

interface Parts {
  readonly environment: GivenSettings;
  readonly file: ConfigFile;
  readonly requirements: readonly Requirement[];
  /** Schedulers of work on the file, and on paths in settings, which may be on other volumes. */
  readonly volumes: { readonly file: VolumeQueue; readonly paths: VolumeQueue };
}

/** Stores the changes. Returns whether anything had to be written. */
async function store(parts: Parts, changes: Changes): Promise<boolean> {
  const { file, volumes } = parts;
  for (let tries = 0; tries < maxTries; tries++) {
    const before = await volumes.file.run(() => usable(file));
    const text = editConfig(file, before, changes);
    if (text === before.text) return false;
    await checkEdited(parts, before, text, changes);
    if (await volumes.file.run(() => writeConfigFile(file, before, text))) return true;
  }
  throw new ServiceError('CONFLICT', `${file.path} keeps changing; nothing was stored`);
}

/** Returns the content of the file. @throws CONFLICT with the reason why the file cannot be read */
async function usable(file: ConfigFile): Promise<ConfigText> {
  try {
    return await readConfigFileLater(file);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ServiceError('CONFLICT', `nothing was stored: ${error.message}`);
  }
}

/**
 * Checks all settings as a start would. Throws INVALID_REQUEST for a fault that the request caused, and CONFLICT for a
 * fault that the file already had.
 */
async function checkEdited(parts: Parts, before: ConfigText, text: string, changes: Changes): Promise<void> {
  const { file, environment } = parts;
  if (Buffer.byteLength(text) > limits.maxConfigFileBytes)
    throw invalidField('settings', `would make the file larger than ${limits.maxConfigFileBytes} bytes`);
  const given = givenAfter(file, before, text, changes);
  const after = tryToCombine(environment, given);
  const earlier = tryToCombine(environment, before.given);
  if (after instanceof ConfigError) {
    if (earlier instanceof ConfigError && earlier.message === after.message)
      throw new ServiceError('CONFLICT', `nothing was stored: ${after.message}`);
    throw invalidField(fieldOf(after.setting), after.problem);
  }
  const unmet = await unmetBy(after, parts, earlier instanceof ConfigError ? undefined : earlier);
  if (unmet !== undefined) throw invalidField(fieldOf(unmet.setting), unmet.problem);
}

/**
 * Returns the settings in the edited text. These settings must be the previous settings with the changes; otherwise the
 * file is not changed.
 */
function givenAfter(file: ConfigFile, before: ConfigText, text: string, changes: Changes): GivenSettings {
  const wanted = rawValues(before.given);
  for (const [name, value] of changes) value === undefined ? wanted.delete(name) : wanted.set(name, value);
  try {
    const { given } = parseConfig(file, text);
    if (isDeepStrictEqual(rawValues(given), wanted)) return given;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
  }
  throw new ServiceError(
    'CONFLICT',
    `nothing was stored: ${file.path} has a form that cannot be changed here; edit it manually`,
  );
}

function rawValues(given: GivenSettings): Map<SettingName, unknown> {
  return new Map([...given].map(([name, { raw }]) => [name, raw]));
}

function tryToCombine(environment: GivenSettings, file: GivenSettings): LoadedConfig | ConfigError {
  try {
    return combine(environment, file);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
}

/**
 * Returns the first violation of a requirement. If `earlier` is given, checks only the requirements with a setting that
 * differs from `earlier`.
 */
async function unmetBy(
  { config }: LoadedConfig,
  { requirements, volumes }: Parts,
  earlier?: LoadedConfig,
): Promise<ConfigError | undefined> {
  for (const { settings, check } of requirements) {
    if (settings.every((name) => isDeepStrictEqual(config[name], earlier?.config[name]))) continue;
    try {
      await volumes.paths.run(async () => check(config));
    } catch (error) {
      return new ConfigError(settings[0], error instanceof Error ? error.message : String(error));
    }
  }
  return undefined;
}
