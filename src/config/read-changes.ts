import { isDeepStrictEqual } from 'node:util';
import { invalidField } from '../errors.ts';
import { shorten, show } from './config-error.ts';
import { flatten, isGroup } from './config-file.ts';
import { readOnlyReason } from './describe.ts';
import type { Changes } from './edit.ts';
import type { GivenSettings } from './given.ts';
import { InvalidSetting } from './readers.ts';
import { isSettingName, type SettingName, settingOf } from './settings.ts';

/** Returns the field in errors about a setting of the request body. */
export const fieldOf = (name: string) => `settings.${shorten(name)}`;

/**
 * Parses the changes of a request: values by dotted name, or nested as in the file. Null, or the default, removes a
 * setting from the file.
 *
 * @throws INVALID_REQUEST with the field `settings.<name>`
 */
export function readChanges(values: Readonly<Record<string, unknown>>, environment: GivenSettings): Changes {
  const changes = new Map<SettingName, unknown>();
  for (const { name, raw } of flatten(values)) {
    const field = fieldOf(name);
    if (isGroup(name)) throw invalidField(field, `is a group of settings: got ${show(raw)}, expected an object`);
    if (!isSettingName(name)) throw invalidField(field, 'is not a known setting');
    if (changes.has(name)) throw invalidField(field, 'is set twice');
    const readOnly = readOnlyReason(name, environment);
    if (readOnly !== undefined) throw invalidField(field, `cannot be changed here: ${readOnly}`);
    changes.set(name, raw === null ? undefined : valueToStore(name, raw));
  }
  return changes;
}

/** Returns undefined for the default, which is not stored in the file. */
function valueToStore(name: SettingName, raw: unknown): unknown {
  const setting = settingOf(name);
  try {
    const value = setting.read(raw);
    const isDefault = setting.default !== undefined && isDeepStrictEqual(value, setting.read(setting.default));
    return isDefault ? undefined : value;
  } catch (error) {
    if (!(error instanceof InvalidSetting)) throw error;
    const { item = { raw }, message } = error;
    const place = 'index' in item ? `${name}.${item.index}` : name;
    throw invalidField(fieldOf(place), `got ${show(item.raw)}, expected ${message}`);
  }
}
