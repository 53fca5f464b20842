import { oneOf, type Static } from './common.ts';
import { anyObject, flag, list, optional, part, shape, text } from './fields.ts';

const setting = part(
  {
    name: text('Dotted name, as in the configuration file.'),
    variable: text('The environment variable that sets it, too.'),
    description: text('What it is for, and why its default is what it is.'),
    schema: anyObject('JSON Schema of its value, with range and default.'),
    source: oneOf(['default', 'file', 'environment'], {
      description: 'Where the value in effect comes from.',
    }),
    secret: flag('Never shown.'),
    read_only: optional(text('Why it cannot be changed here; absent where it can.')),
  },
  'A setting.',
);

export const Config = shape('Config', {
  active: anyObject('Settings in effect by their dotted names, without secrets.'),
  pending: anyObject('What the next start would change; null for a setting that it would find absent.'),
  restart_required: flag('True where the next start would change anything, secrets included.'),
  problem: optional(
    text('Why the next start would be refused: the file as it is now. Absent where it would not.'),
  ),
  settings: list(setting, 'All settings there are.'),
});
export type Config = Static<typeof Config>;

/** Any subset of the settings, by dotted name or nested as in the file. Null puts one back to its default. */
export const ConfigInput = shape('ConfigInput', {
  settings: anyObject('Values by dotted name, or nested as in the file; null for the default.'),
});
export type ConfigInput = Static<typeof ConfigInput>;
