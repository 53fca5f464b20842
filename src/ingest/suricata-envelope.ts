import { isObject, type JsonObject, port, text, whole } from './fields.ts';
import { reject } from './rejection.ts';
import { transportField } from './transport.ts';

// Readers of fields that EVE records of all types have.

/** Returns the source port. For ICMP, the columns of ports contain type and code, as in Zeek. */
export function srcPort(r: JsonObject): number | undefined {
  return port(r.src_port, 'src_port') ?? icmpType(r);
}

export function dstPort(r: JsonObject): number | undefined {
  return port(r.dest_port, 'dest_port') ?? icmpCode(r);
}

export const icmpType = (r: JsonObject): number | undefined => whole(r.icmp_type, 'icmp_type', 255);
export const icmpCode = (r: JsonObject): number | undefined => whole(r.icmp_code, 'icmp_code', 255);

/**
 * Returns the transport. `ICMP` and `IPv6-ICMP` both become icmp, as in Zeek: the addresses show the version.
 */
export function suricataTransport(record: JsonObject): string | undefined {
  const transport = transportField(record.proto, 'proto');
  return transport === 'ipv6-icmp' || transport === 'icmpv6' ? 'icmp' : transport;
}

export function requiredTransport(record: JsonObject): string {
  return suricataTransport(record) ?? reject('proto', 'is missing');
}

/**
 * Returns the sensor's configured name, otherwise its interface. Shippers may replace `host` with an object,
 * which is ignored.
 */
export function suricataSensor(record: JsonObject): string | undefined {
  const name = isObject(record.host) ? undefined : text(record.host, 'host');
  return name ?? text(record.in_iface, 'in_iface');
}
