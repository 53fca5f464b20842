import type { HistoryEntry } from './address-spans.ts';

/** What happened, in words; values stand apart, as they may be anybody's text. */
const sentences: Readonly<Record<HistoryEntry['action'], string>> = {
  created: 'made it known',
  address_bound: 'gave it the address',
  address_left: 'took from it the address',
  mac_bound: 'gave it the link-layer address',
  mac_released: 'took from it the link-layer address',
  hostname_added: 'called it',
  state_changed: 'made it',
  edited: 'edited',
  merged: 'merged another asset into it',
  split: 'split it',
  seen_again: 'showed it again, although it is retired',
};

export interface HistoryLine {
  readonly who: string;
  /** The scan that did it. */
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
    who:
      by.kind === 'network'
        ? 'The network'
        : by.kind === 'scan'
          ? 'A scan'
          : (by.name ?? by.id ?? 'Somebody'),
    ...(by.kind === 'scan' && by.id !== undefined && { scan: by.id }),
    what: sentences[action],
    ...(value !== undefined && value !== '' && { value }),
  };
}
