import { maxLineLength } from '../../contract/vocabulary.ts';
import { hostName } from '../../net/host-name.ts';
import { withName } from '../model/names.ts';
import { printable } from '../model/printable.ts';
import { type AssetState, hostnamesOf } from './asset-state.ts';
import type { By } from './history.ts';
import type { KnownAssets } from './known-assets.ts';

/** Adds a name that the network reported for an asset. */
export function addName(known: KnownAssets, asset: AssetState, heard: Parameters<typeof withName>[1], by: By): void {
  const name = hostName(heard.name);
  if (name === undefined) return;
  const names = withName(asset.heard, { ...heard, name });
  const isNew = !asset.heard.some((each) => each.name === name);
  if (isNew && names.length === asset.heard.length) known.leftOut('maxHeardNames');
  if (names === asset.heard) return;
  asset.heard = names;
  known.rows.put(asset.id, asset);
  if (isNew && asset.hostnames === undefined && hostnamesOf(asset).includes(name))
    known.note(asset, heard.at, { action: 'hostname_added', by, hostname: name });
}

/** Sets the operating system that the network reports, unless a user set one. */
export function learnSystem(known: KnownAssets, asset: AssetState, os: string): void {
  const text = printable(os, maxLineLength);
  if (text === undefined || asset.os === text || asset.set.includes('os')) return;
  asset.os = text;
  known.rows.put(asset.id, asset);
}
