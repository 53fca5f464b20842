import { isDeepStrictEqual } from 'node:util';
import type { Config as ConfigResource } from '../contract/resources/config.ts';
import type { GivenSettings } from './given.ts';
import type { LoadedConfig } from './load.ts';
import { type SettingName, settingNames, settingOf, variableOf } from './settings.ts';

/** Returns the reason why the running service cannot store a setting; undefined if it can. */
export function readOnlyReason(name: SettingName, environment: GivenSettings): string | undefined {
  const { secret, readOnly } = settingOf(name);
  if (readOnly !== undefined) return readOnly;
  if (secret) return `it is a secret; set it with ${variableOf(name)} or in the settings file`;
  if (environment.has(name)) return `it is set by ${variableOf(name)} in the environment, which overrides the file`;
  return undefined;
}

/** Returns all settings, with the source of the value in effect. */
export function describeSettings({ sources }: LoadedConfig, environment: GivenSettings): ConfigResource['settings'] {
  return settingNames.map((name) => {
    const { schema, default: value, reason, secret } = settingOf(name);
    const readOnly = readOnlyReason(name, environment);
    return {
      name,
      variable: variableOf(name),
      description: reason,
      schema: value === undefined ? schema : { ...schema, default: value },
      source: sources.get(name) ?? 'default',
      secret: secret === true,
      ...(readOnly === undefined ? {} : { read_only: readOnly }),
    };
  });
}

/** Returns the settings that have a value and are not secret. */
export function shownValues({ config }: LoadedConfig): Record<string, unknown> {
  const shown = settingNames.filter((name) => !settingOf(name).secret && config[name] !== undefined);
  return Object.fromEntries(shown.map((name) => [name, config[name]]));
}

/**
 * Returns the changes that a restart would make. A changed secret requires a restart too, but is not shown.
 */
export function differences(
  active: LoadedConfig,
  next: LoadedConfig,
): Pick<ConfigResource, 'pending' | 'restart_required'> {
  const changed = settingNames.filter((name) => !isDeepStrictEqual(active.config[name], next.config[name]));
  const shown = changed.filter((name) => !settingOf(name).secret);
  return {
    pending: Object.fromEntries(shown.map((name) => [name, next.config[name] ?? null])),
    restart_required: changed.length > 0,
  };
}
