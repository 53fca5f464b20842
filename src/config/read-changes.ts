import { isDeepStrictEqual } from 'node:util';
import { invalidField } from '../errors.ts';
import { shorten, show } from './config-error.ts';
import { flatten, isGroup } from './config-file.ts';
import { readOnlyReason } from './describe.ts';
import type { Changes } from './edit.ts';
import type { GivenSettings } from './given.ts';
import { Unwanted } from './readers.ts';
import { isSettingName, type SettingName, settingOf } from './settings.ts';

/** How errors name a setting of the body of the request. */
export const fieldOf = (name: string) => `settings.${shorten(name)}`;

/**
 * The changes that a request wants: values by dotted name, or nested as in the file. Null, or the default, takes a
 * setting out of the file.
 *
 * @throws INVALID_REQUEST with the field `settings.<name>`
 */
export function readChanges(values: Readonly<Record<string, unknown>>, environment: GivenSettings): Changes {
  const changes = new Map<SettingName, unknown>();
  for (const { name, raw } of flatten(values)) {
    const field = fieldOf(name);
    if (isGroup(name))
      throw invalidField(field, `is a group of settings: came ${show(raw)}, wanted an object of them`);
    if (!isSettingName(name)) throw invalidField(field, 'is not a known setting');
    if (changes.has(name)) throw invalidField(field, 'came twice, wanted it once');
    const readOnly = readOnlyReason(name, environment);
    if (readOnly !== undefined) throw invalidField(field, `cannot be changed here: ${readOnly}`);
    changes.set(name, raw === null ? undefined : valueToStore(name, raw));
  }
  return changes;
}

/** Undefined for the default, which needs no place in the file. */
function valueToStore(name: SettingName, raw: unknown): unknown {
  const setting = settingOf(name);
  try {
    const value = setting.read(raw);
    const isDefault =
      setting.default !== undefined && isDeepStrictEqual(value, setting.read(setting.default));
    return isDefault ? undefined : value;
  } catch (error) {
    if (!(error instanceof Unwanted)) throw error;
    const { item = { raw }, message } = error;
    const place = 'index' in item ? `${name}.${item.index}` : name;
    throw invalidField(fieldOf(place), `came ${show(item.raw)}, wanted ${message}`);
  }
}
