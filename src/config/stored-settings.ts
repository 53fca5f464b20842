import { isDeepStrictEqual } from 'node:util';
import type { Config as ConfigResource } from '../contract/resources/config.ts';
import { invalidField, ServiceError } from '../errors.ts';
import { limits } from '../limits.ts';
import { VolumeTurns } from '../volume-turns.ts';
import { ConfigError } from './config-error.ts';
import { type ConfigFile, type ConfigText, parseConfig, readConfigFile } from './config-file.ts';
import { describeSettings, differences, shownValues } from './describe.ts';
import { type Changes, editConfig } from './edit.ts';
import type { GivenSettings } from './given.ts';
import { combine, type Environment, fileOf, type LoadedConfig, readEnvironment } from './load.ts';
import { fieldOf, readChanges } from './read-changes.ts';
import type { Config, SettingName } from './settings.ts';
import { writeConfigFile } from './write-file.ts';

/** The settings in effect, and those in the file, which the next start takes. */
export interface StoredSettings {
  /** The file is read at each call. One that no start would take shows as `problem`, not as an error. */
  read(): Promise<ConfigResource>;
  /**
   * Stores values by setting, all or none; null, or the default, takes one out of the file. Calls take turns, and each
   * reads the file anew: none undoes what another, or an editor, wrote before it. Resolves when the file is flushed.
   *
   * @param stored - called when the file was written, which it isn't where it holds these values already
   * @throws INVALID_REQUEST with `settings.<name>`; CONFLICT where the file cannot be used or written as it is;
   *   UNAVAILABLE where the disk is full or fails. Then nothing is stored.
   */
  change(values: Readonly<Record<string, unknown>>, stored?: () => void): Promise<ConfigResource>;
}

/** Something outside the settings that a start with them needs: a file that one of them names. */
export interface Requirement {
  /** What the refusal of a change names. */
  readonly setting: SettingName;
  /** @throws Error whose message says in one line what is wrong. */
  check(config: Config): void | Promise<void>;
}

/**
 * @param active - what this process runs with: the same environment, loaded at its start
 * @param requirements - a change that would break one is refused; one that is broken anyway shows as `problem` only
 */
export function openStoredSettings(
  env: Environment,
  active: LoadedConfig,
  requirements: readonly Requirement[] = [],
): StoredSettings {
  const environment = readEnvironment(env);
  const file = fileOf(env, environment);
  const parts: Parts = { environment, file, requirements, turns: new VolumeTurns('the path') };
  const settings = describeSettings(active, environment);
  let turn: Promise<unknown> = Promise.resolve();

  async function read(): Promise<ConfigResource> {
    return { active: shownValues(active), ...(await pending()), settings };
  }

  async function pending(): Promise<Pick<ConfigResource, 'pending' | 'restart_required' | 'problem'>> {
    try {
      const next = combine(environment, readConfigFile(file).given);
      const unmet = await unmetBy(next, parts);
      return { ...differences(active, next), ...(unmet === undefined ? {} : { problem: unmet.message }) };
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
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

/** Tries to write the file before it gives up on somebody who keeps changing it. */
const maxTries = 3;

interface Parts {
  readonly environment: GivenSettings;
  readonly file: ConfigFile;
  readonly requirements: readonly Requirement[];
  /** Paths may lie on any volume. */
  readonly turns: VolumeTurns;
}

/** Whether anything was to be written. */
async function store(parts: Parts, changes: Changes): Promise<boolean> {
  const { file } = parts;
  for (let tries = 0; tries < maxTries; tries++) {
    const before = usable(file);
    const text = editConfig(file, before, changes);
    if (text === before.text) return false;
    await checkEdited(parts, before, text, changes);
    if (await writeConfigFile(file, before, text)) return true;
  }
  throw new ServiceError('CONFLICT', `${file.path} changes again and again; nothing was stored`);
}

/** @throws CONFLICT that says why the file cannot be read. */
function usable(file: ConfigFile): ConfigText {
  try {
    return readConfigFile(file);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ServiceError('CONFLICT', `nothing was stored: ${error.message}`);
  }
}

/** All settings as a start would find them: the fault is the request's, or was in the file already. */
async function checkEdited(parts: Parts, before: ConfigText, text: string, changes: Changes): Promise<void> {
  const { file, environment } = parts;
  if (Buffer.byteLength(text) > limits.maxConfigFileBytes)
    throw invalidField('settings', `make the file larger than ${limits.maxConfigFileBytes} bytes`);
  const given = givenAfter(file, before, text, changes);
  const after = tryToCombine(environment, given);
  const earlier = tryToCombine(environment, before.given);
  if (after instanceof ConfigError) {
    if (earlier instanceof ConfigError && earlier.message === after.message)
      throw new ServiceError('CONFLICT', `nothing was stored: ${after.message}`);
    throw invalidField(fieldOf(after.setting), after.problem);
  }
  const unmet = await unmetBy(after, parts);
  if (unmet === undefined) return;
  const unmetBefore = earlier instanceof ConfigError ? undefined : await unmetBy(earlier, parts);
  if (unmet.message !== unmetBefore?.message) throw invalidField(fieldOf(unmet.setting), unmet.problem);
}

/** What the edited text holds: the same as before and the changes, or the file is left to whoever wrote it. */
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
    `nothing was stored: ${file.path} is written in a way that cannot be changed here; edit it by hand`,
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

async function unmetBy(
  { config }: LoadedConfig,
  { requirements, turns }: Parts,
): Promise<ConfigError | undefined> {
  for (const { setting, check } of requirements) {
    try {
      await turns.run(async () => check(config));
    } catch (error) {
      return new ConfigError(setting, error instanceof Error ? error.message : String(error));
    }
  }
  return undefined;
}
