import { maxTime } from '../events/format/columns.ts';
import type { Address } from './addresses.ts';
import { field, numeric, single } from './ecs-document.ts';
import { type JsonObject, port } from './fields.ts';
import type { ParseContext } from './parse-context.ts';
import { reject } from './rejection.ts';
import { transportField } from './transport.ts';

/** Source, destination, client or server of a connection. */
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

/** Returns whether the document has the IP address of this side. A host name in `address` is not enough. */
export function hasEnd(document: JsonObject, side: Side): boolean {
  return sides[side].ip(document) !== undefined;
}

export function end(document: JsonObject, side: Side, { addresses }: ParseContext): End {
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

/**
 * Returns the transport in lower case. As with all other sensors, ICMP has one name for both versions of IP.
 * Returns `unknown` if the document has no transport.
 */
export function ecsTransport(document: JsonObject): string {
  const named = transportField(single(transport(document)), 'network.transport');
  if (named === undefined) return ofNumber.get(numeric(protocolNumber(document))) ?? 'unknown';
  return named === 'ipv6-icmp' || named === 'icmpv6' ? 'icmp' : named;
}

const duration = field('event.duration');

/**
 * Returns the duration in milliseconds, exact to the microsecond as with all other sensors. `event.duration` is
 * in nanoseconds.
 */
export function ecsDuration(document: JsonObject): number | undefined {
  const nanoseconds = numeric(duration(document));
  if (nanoseconds === undefined) return undefined;
  if (typeof nanoseconds === 'number' && nanoseconds >= 0 && nanoseconds <= maxTime * 1e6)
    return Math.round(nanoseconds / 1e3) / 1e3;
  return reject('event.duration', 'is not a duration in nanoseconds');
}
