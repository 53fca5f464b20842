import type { HistoryEntry } from './address-spans.ts';

/** Descriptions of history actions. They omit values, which may be untrusted text. */
const sentences: Readonly<Record<HistoryEntry['action'], string>> = {
  created: 'discovered the asset',
  address_bound: 'added address',
  address_left: 'removed address',
  mac_bound: 'added MAC address',
  mac_released: 'removed MAC address',
  hostname_added: 'added hostname',
  state_changed: 'changed the state to',
  edited: 'edited',
  merged: 'merged another asset into this one',
  split: 'split the asset',
  seen_again: 'saw the retired asset again',
};

export interface HistoryLine {
  readonly who: string;
  /** The ID of the scan that caused the entry. */
  readonly scan?: string;
  readonly what: string;
  readonly value?: string;
}

export function lineOf(entry: HistoryEntry): HistoryLine {
  const { action, by, fields, identifiers } = entry;
  const value =
    entry.ip_address ??
    entry.mac_address ??
    entry.hostname ??
    entry.state ??
    fields?.join(', ').replaceAll('_', ' ') ??
    identifiers?.join(', ');
  return {
    who: by.kind === 'network' ? 'Network' : by.kind === 'scan' ? 'Scan' : (by.name ?? by.id ?? 'Unknown user'),
    ...(by.kind === 'scan' && by.id !== undefined && { scan: by.id }),
    what: sentences[action],
    ...(value !== undefined && value !== '' && { value }),
  };
}
