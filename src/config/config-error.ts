import type { SettingName } from './settings.ts';

/** A setting that cannot be used. The message is one line: the setting, what came, what is wanted. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  /** The setting, the variable or the name that is none. */
  readonly setting: SettingName | (string & {});
  /** The message without the setting. */
  readonly problem: string;

  constructor(setting: string, problem: string) {
    const line = problem.replace(/\s+/g, ' ').toWellFormed();
    super(`${shorten(setting)}: ${line}`);
    this.setting = setting;
    this.problem = line;
  }
}

/** A value in a message: as JSON, or its kind where it has parts. */
export function show(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  return shorten(JSON.stringify(value) ?? String(value));
}

/** A name that somebody else chose, in a message. */
export function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return (line.length > 80 ? `${line.slice(0, 77)}…` : line).toWellFormed();
}
