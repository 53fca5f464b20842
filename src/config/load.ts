import { resolve } from 'node:path';
import { ConfigError, show } from './config-error.ts';
import { type ConfigFile, readConfigFile } from './config-file.ts';
import type { Given, GivenSettings } from './given.ts';
import { InvalidSetting } from './readers.ts';
import { rules } from './rules.ts';
import { type Config, type SettingName, settingNames, settingOf, variableOf } from './settings.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The settings of a start, with the source of each. */
export interface LoadedConfig {
  readonly config: Config;
  readonly sources: ReadonlyMap<SettingName, 'default' | Given['source']>;
}

/** Variables with the prefix CANDOR_ that are not settings. */
const foreignVariables = new Set([
  'CANDOR_CONFIG',
  'CANDOR_URL',
  'CANDOR_TOKEN',
  'CANDOR_USER',
  'CANDOR_PASSWORD',
  'CANDOR_SHARED',
  'CANDOR_DEMO_ONCE',
]);

/**
 * Loads the settings: the environment overrides the file, and the file overrides the defaults.
 *
 * @throws ConfigError at the first invalid setting
 */
export function loadConfig(env: Environment): Config {
  return loadSettings(env).config;
}

/** Loads the settings as `loadConfig` does, and also returns where each setting comes from. */
export function loadSettings(env: Environment): LoadedConfig {
  const environment = readEnvironment(env);
  return combine(environment, readConfigFile(fileOf(env, environment)).given);
}

/**
 * Returns the settings file: the file named by CANDOR_CONFIG, which must exist; otherwise config.json in the data
 * folder, which is optional.
 */
export function fileOf(env: Environment, environment: GivenSettings): ConfigFile {
  const named = env.CANDOR_CONFIG;
  if (named !== undefined && named !== '') return { path: resolve(named), named: true };
  const dataDir = settingValue('data_dir', environment.get('data_dir')) as string;
  return { path: resolve(dataDir, 'config.json'), named: false };
}

/** Reads the settings in the environment. @throws ConfigError for an unknown variable with the prefix CANDOR_ */
export function readEnvironment(env: Environment): GivenSettings {
  const given = new Map<SettingName, Given>();
  for (const [variable, raw] of Object.entries(env)) {
    if (!variable.startsWith('CANDOR_') || foreignVariables.has(variable) || raw === undefined) continue;
    const name = byVariable.get(variable);
    // The value is not shown: it may be a secret with a misspelt name.
    if (name === undefined) {
      throw new ConfigError(variable, 'unknown variable in the environment');
    }
    // An empty variable means "not set" in compose files and unit files.
    if (raw !== '') given.set(name, { raw, source: 'environment', from: variable });
  }
  return given;
}

const byVariable = new Map(settingNames.map((name) => [variableOf(name), name]));

/**
 * Combines the sources of settings. @throws ConfigError at the first setting that is invalid, alone or in combination
 * with other settings
 */
export function combine(environment: GivenSettings, file: GivenSettings): LoadedConfig {
  const given = (name: SettingName) => environment.get(name) ?? file.get(name);
  const config = Object.fromEntries(settingNames.map((name) => [name, settingValue(name, given(name))])) as Config;
  for (const { broken } of rules) {
    const found = broken(config);
    if (found !== undefined) throw new ConfigError(found.setting, found.problem);
  }
  return {
    config,
    sources: new Map(settingNames.map((name) => [name, given(name)?.source ?? 'default'])),
  };
}

function settingValue(name: SettingName, given: Given | undefined): unknown {
  const setting = settingOf(name);
  if (given === undefined) return setting.default;
  const { raw, source, from } = given;
  try {
    return setting.read(source === 'environment' ? setting.fromText(raw as string) : raw);
  } catch (error) {
    if (!(error instanceof InvalidSetting)) throw error;
    const { item = { raw }, message } = error;
    const came = setting.secret ? 'a value that is not shown here' : show(item.raw);
    const place = 'index' in item ? `${name}.${item.index}` : name;
    throw new ConfigError(place, `got ${came} from ${from}, expected ${message}`);
  }
}
