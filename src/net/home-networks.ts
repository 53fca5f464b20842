import { invalidField } from '../errors.ts';
import { addressRanges, compareAddress } from './ip.ts';

/** Returns whether an address, given as 16 bytes, is in one of the home networks. */
export type IsHome = (address: Uint8Array) => boolean;

/** Compiles a set of networks. @throws INVALID_REQUEST for text that is not an address or CIDR block */
export function compileHome(blocks: readonly string[]): IsHome {
  const ranges = blocks.flatMap(
    (block) =>
      addressRanges(block) ??
      (() => {
        throw invalidField('network.home', `contains ${JSON.stringify(block)}, which is not an address or CIDR block`);
      })(),
  );
  return (address) =>
    ranges.some(
      ({ first, last }) => compareAddress(address, 0, first, 0) >= 0 && compareAddress(address, 0, last, 0) <= 0,
    );
}

/** The last compiled set of this thread, cached because all tasks of a process have the same configuration. */
let compiled: { readonly key: string; readonly isHome: IsHome } | undefined;

/** Returns the result of `compileHome`, cached because compiling takes 10 µs and a body may be a single event. */
export function homeNetworks(blocks: readonly string[]): IsHome {
  const key = blocks.join(' ');
  if (compiled?.key !== key) compiled = { key, isHome: compileHome(blocks) };
  return compiled.isHome;
}

/** Returns advice to add a host to the home networks; an empty list without a host. */
export function homeAdvice(
  home: readonly string[],
  host: { readonly ip: string; readonly share: number } | undefined,
): string[] {
  if (host === undefined) return [];
  const { ip, share } = host;
  const value = [...home, `${ip}/${ip.includes(':') ? 128 : 32}`].join(',');
  return [
    `${ip} takes part in ${Math.floor(100 * share)} % of the newest connections, but is not in network.home: it is not an ` +
      `asset, and detectors treat it as an Internet host. If the host is yours, set CANDOR_NETWORK_HOME=${value} and restart.`,
  ];
}
