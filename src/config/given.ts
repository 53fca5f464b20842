import type { SettingName } from './settings.ts';

/** The given value of a setting, not yet validated. */
export interface Given {
  readonly raw: unknown;
  readonly source: 'file' | 'environment';
  /** The variable or file with the value. */
  readonly from: string;
}

export type GivenSettings = ReadonlyMap<SettingName, Given>;
