import { isDeepStrictEqual } from 'node:util';
import type { Config as ConfigResource } from '../contract/resources/config.ts';
import type { GivenSettings } from './given.ts';
import type { LoadedConfig } from './load.ts';
import { type SettingName, settingNames, settingOf, variableOf } from './settings.ts';

/** Why a setting cannot be stored by the running service; undefined where it can. */
export function readOnlyReason(name: SettingName, environment: GivenSettings): string | undefined {
  const { secret, readOnly } = settingOf(name);
  if (readOnly !== undefined) return readOnly;
  if (secret) return `a secret, which comes from ${variableOf(name)} or the file only`;
  if (environment.has(name)) return `set by ${variableOf(name)} in the environment, which wins over the file`;
  return undefined;
}

/** Every setting there is, with the source of the value in effect. */
export function describeSettings(
  { sources }: LoadedConfig,
  environment: GivenSettings,
): ConfigResource['settings'] {
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

/** What may be shown of the settings: those that have a value and are no secrets. */
export function shownValues({ config }: LoadedConfig): Record<string, unknown> {
  const shown = settingNames.filter((name) => !settingOf(name).secret && config[name] !== undefined);
  return Object.fromEntries(shown.map((name) => [name, config[name]]));
}

/** What a start would change. A secret makes a restart necessary too, and is not among the values. */
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
