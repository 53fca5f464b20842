import { oneOf, type Static } from './common.ts';
import { anyObject, flag, list, optional, part, shape, text } from './fields.ts';

const setting = part('A setting.', {
  name: text('Dotted name, as in the configuration file.'),
  variable: text('Environment variable that also sets it.'),
  description: text('Purpose of the setting, and the reason for its default.'),
  schema: anyObject('JSON Schema of the value, with range and default.'),
  source: oneOf(['default', 'file', 'environment'], 'Source of the value in effect.'),
  secret: flag('Whether the value is secret and never returned.'),
  read_only: optional(text('Why the setting cannot be changed over the API; absent if it can.')),
});

export const Config = shape('Config', {
  active: anyObject('Settings in effect by dotted name, without secrets.'),
  pending: anyObject('Settings that the next start would change; null for a setting that would be removed.'),
  restart_required: flag('Whether the next start would change any setting, secrets included.'),
  problem: optional(text('Why the service could not start with the current configuration file; absent if it could.')),
  settings: list(setting, 'All settings.'),
});
export type Config = Static<typeof Config>;

/**
 * Any subset of the settings, by dotted name or nested as in the file. Null resets a setting to its default.
 */
export const ConfigInput = shape('ConfigInput', {
  settings: anyObject('Values by dotted name, or nested as in the file; null for the default.'),
});
export type ConfigInput = Static<typeof ConfigInput>;
