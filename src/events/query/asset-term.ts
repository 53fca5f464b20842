import { addressBytes } from '../../net/ip.ts';
import type { AssetLookup, Span } from '../asset-lookup.ts';
import type { EventBlock } from '../format/block.ts';
import type { End } from '../format/block-assets.ts';
import { covers } from './address-term.ts';
import { costs, either, entriesIn, keep, type Prepared, type Term } from './term.ts';

/** An address, and the spans in which a requested asset had it. */
interface Wanted {
  readonly address: Uint8Array;
  readonly spans: Span[];
}

/**
 * Matches events with a source or destination address that a requested asset had when the event began. Blocks without
 * such an address are excluded by their header. The assets' addresses are read again after each change, so that a
 * live subscription follows an address that moves.
 */
export function assetTerm(ends: readonly End[], assetIds: readonly string[], assets: AssetLookup): Term {
  let generation = Number.NaN;
  let wanted: readonly Wanted[] = [];
  return {
    cost: costs.address,
    prepare(block) {
      const current = assets.generation();
      if (current !== generation) {
        wanted = wantedOf(assetIds, assets);
        generation = current;
      }
      return ends.map((end) => owned(block, end, wanted)).reduce(either);
    },
  };
}

function wantedOf(assetIds: readonly string[], assets: AssetLookup): Wanted[] {
  const found = new Map<string, Span[]>();
  for (const id of new Set(assetIds))
    for (const { ip, from, to } of assets.ranges(id)) {
      const spans = found.get(ip);
      if (spans === undefined) found.set(ip, [{ from, to }]);
      else spans.push({ from, to });
    }
  return Array.from(found, ([ip, spans]) => ({ address: addressBytes(ip)!, spans }));
}

function owned(block: EventBlock, end: End, wanted: readonly Wanted[]): Prepared {
  const { minTime, maxTime } = block;
  const bounds = block.addressBounds(end);
  if (bounds.length === 0) return false;
  const near = wanted.filter(
    ({ address, spans }) => spans.some(({ from, to }) => from <= maxTime && to > minTime) && covers(bounds, address),
  );
  if (near.length === 0) return false;
  const column = block.addresses(end);
  const member = new Uint8Array(column.list.length + 1);
  const partly = new Map<number, readonly Span[]>();
  let marked = 0;
  for (const { address, spans } of near) {
    const entry = column.list.placeOf(address);
    if (entry < 0) continue;
    if (spans.some(({ from, to }) => from <= minTime && to > maxTime)) {
      member[entry + 1] = 1;
      marked++;
    } else partly.set(entry + 1, spans);
  }
  if (partly.size === 0) return entriesIn(column, member, marked);
  const times = block.numbers('timestamp');
  return keep((row) => {
    const code = column.code(row);
    if (member[code] === 1) return true;
    const time = times.at(row);
    return partly.get(code)?.some(({ from, to }) => time >= from && time < to) ?? false;
  });
}
