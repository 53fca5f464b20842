import { invalidField } from '../errors.ts';
import { addressRanges, compareAddress } from './ip.ts';

/** Whether the 16 bytes of an address lie in one of the home networks. */
export type IsHome = (address: Uint8Array) => boolean;

/** INVALID_REQUEST for what is no address or CIDR block. */
export function compileHome(blocks: readonly string[]): IsHome {
  const ranges = blocks.flatMap(
    (block) =>
      addressRanges(block) ??
      (() => {
        throw invalidField('network.home', `holds ${JSON.stringify(block)}, no address or CIDR block`);
      })(),
  );
  return (address) =>
    ranges.some(
      ({ first, last }) =>
        compareAddress(address, 0, first, 0) >= 0 && compareAddress(address, 0, last, 0) <= 0,
    );
}

/** The last compiled set of this thread: all tasks of a process have the same configuration. */
let compiled: { readonly key: string; readonly isHome: IsHome } | undefined;

/** `compileHome`, remembered: compiling costs 10 µs, and a body may be a single event. */
export function homeNetworks(blocks: readonly string[]): IsHome {
  const key = blocks.join(' ');
  if (compiled?.key !== key) compiled = { key, isHome: compileHome(blocks) };
  return compiled.isHome;
}

/** Advice for a sensor's host that the home networks lack. */
export function homeAdvice(
  home: readonly string[],
  host: { readonly ip: string; readonly share: number } | undefined,
): string[] {
  if (host === undefined) return [];
  const { ip, share } = host;
  const value = [...home, `${ip}/${ip.includes(':') ? 128 : 32}`].join(',');
  return [
    `${ip} takes part in ${Math.floor(100 * share)} % of the newest connections, but is not in network.home: it is no ` +
      `asset, and detectors take it for a host on the Internet. If it is yours, set CANDOR_NETWORK_HOME=${value} and start again.`,
  ];
}
