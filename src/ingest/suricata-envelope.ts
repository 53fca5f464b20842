import { isObject, port, text, whole } from './fields.ts';
import type { RecordFields } from './record-fields.ts';
import { reject } from './rejection.ts';
import { slotsOf } from './slots.ts';
import { transportField } from './transport.ts';

/** Names of the fields that EVE records of any type can have. */
export const eveFields =
  'timestamp flow_id src_ip src_port dest_ip dest_port proto icmp_type icmp_code community_id host in_iface';
export const eveSlots = slotsOf(eveFields, '');

/** Returns the source port. For ICMP, the columns of ports contain type and code, as in Zeek. */
export function srcPort(r: RecordFields): number | undefined {
  return port(r.value(eveSlots.src_port), 'src_port') ?? icmpType(r);
}

export function dstPort(r: RecordFields): number | undefined {
  return port(r.value(eveSlots.dest_port), 'dest_port') ?? icmpCode(r);
}

export const icmpType = (r: RecordFields): number | undefined => whole(r.value(eveSlots.icmp_type), 'icmp_type', 255);
export const icmpCode = (r: RecordFields): number | undefined => whole(r.value(eveSlots.icmp_code), 'icmp_code', 255);

/** Returns the transport. `ICMP` and `IPv6-ICMP` both become icmp, as in Zeek: the addresses show the version. */
export function suricataTransport(r: RecordFields): string | undefined {
  const transport = transportField(r.value(eveSlots.proto), 'proto');
  return transport === 'ipv6-icmp' || transport === 'icmpv6' ? 'icmp' : transport;
}

export function requiredTransport(r: RecordFields): string {
  return suricataTransport(r) ?? reject('proto', 'is missing');
}

/**
 * Returns the sensor's configured name, otherwise its interface. Shippers may replace `host` with an object,
 * which is ignored.
 */
export function suricataSensor(r: RecordFields): string | undefined {
  const host = r.value(eveSlots.host);
  const name = isObject(host) ? undefined : text(host, 'host');
  return name ?? text(r.value(eveSlots.in_iface), 'in_iface');
}
