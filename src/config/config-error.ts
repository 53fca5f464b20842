import type { SettingName } from './settings.ts';

/** An unusable setting. The message is one line: the setting, the actual value, the expected value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  /** The setting, the variable or the unknown name. */
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

/** Formats a value for a message: as JSON, or only its kind if it has parts. */
export function show(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  return shorten(JSON.stringify(value) ?? String(value));
}

/** Shortens an external name for a message. */
export function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return (line.length > 80 ? `${line.slice(0, 77)}…` : line).toWellFormed();
}
