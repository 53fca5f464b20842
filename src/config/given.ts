import type { SettingName } from './settings.ts';

/** A value that was given for a setting, not read yet. */
export interface Given {
  readonly raw: unknown;
  readonly source: 'file' | 'environment';
  /** The variable or the file that it came from. */
  readonly from: string;
}

export type GivenSettings = ReadonlyMap<SettingName, Given>;
