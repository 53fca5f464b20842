import { maxTime } from '../events/columns.ts';
import type { Address } from './addresses.ts';
import { field, numeric, single } from './ecs-document.ts';
import { type JsonObject, port } from './fields.ts';
import type { Reading } from './reading.ts';
import { reject } from './rejection.ts';
import { transportField } from './transport.ts';

/** One end of a connection: `source`, `destination`, `client` or `server`. */
export interface End {
  readonly address: Address;
  readonly port: number | undefined;
}

type Side = 'source' | 'destination' | 'client' | 'server';

const places = (side: Side) => ({
  ip: field(`${side}.ip`),
  address: field(`${side}.address`),
  port: field(`${side}.port`),
});

const sides = {
  source: places('source'),
  destination: places('destination'),
  client: places('client'),
  server: places('server'),
} as const satisfies Record<Side, unknown>;

/** Whether the document says where this end is. `address` may be a name, and then is none. */
export function hasEnd(document: JsonObject, side: Side): boolean {
  return sides[side].ip(document) !== undefined;
}

export function end(document: JsonObject, side: Side, { addresses }: Reading): End {
  const { ip, port: portOf } = sides[side];
  return {
    address: addresses.required(single(ip(document)), `${side}.ip`),
    port: port(numeric(portOf(document)), `${side}.port`),
  };
}

const transport = field('network.transport');
const protocolNumber = field('network.iana_number');

const ofNumber: ReadonlyMap<unknown, string> = new Map([
  [1, 'icmp'],
  [2, 'igmp'],
  [6, 'tcp'],
  [17, 'udp'],
  [47, 'gre'],
  [50, 'esp'],
  [58, 'icmp'],
  [132, 'sctp'],
]);

/** In lower case; ICMP is one for both versions of IP, as with all other sensors. `unknown` where the document names none. */
export function ecsTransport(document: JsonObject): string {
  const named = transportField(single(transport(document)), 'network.transport');
  if (named === undefined) return ofNumber.get(numeric(protocolNumber(document))) ?? 'unknown';
  return named === 'ipv6-icmp' || named === 'icmpv6' ? 'icmp' : named;
}

const duration = field('event.duration');

/** `event.duration` is in nanoseconds: as milliseconds, exact to the microsecond, as of all other sensors. */
export function ecsDuration(document: JsonObject): number | undefined {
  const nanoseconds = numeric(duration(document));
  if (nanoseconds === undefined) return undefined;
  if (typeof nanoseconds === 'number' && nanoseconds >= 0 && nanoseconds <= maxTime * 1e6)
    return Math.round(nanoseconds / 1e3) / 1e3;
  return reject('event.duration', 'is no span of time in nanoseconds');
}
