import { isObject, type JsonObject, port, text, whole } from './fields.ts';
import { reject } from './rejection.ts';
import { transportField } from './transport.ts';

// What all records of EVE have in common, whatever their event_type.

/** ICMP has its type and code where others have ports, as in Zeek. */
export function srcPort(r: JsonObject): number | undefined {
  return port(r.src_port, 'src_port') ?? icmpType(r);
}

export function dstPort(r: JsonObject): number | undefined {
  return port(r.dest_port, 'dest_port') ?? icmpCode(r);
}

export const icmpType = (r: JsonObject): number | undefined => whole(r.icmp_type, 'icmp_type', 255);
export const icmpCode = (r: JsonObject): number | undefined => whole(r.icmp_code, 'icmp_code', 255);

/** `ICMP` and `IPv6-ICMP` are both icmp, as with Zeek: the addresses say which. */
export function suricataTransport(record: JsonObject): string | undefined {
  const transport = transportField(record.proto, 'proto');
  return transport === 'ipv6-icmp' || transport === 'icmpv6' ? 'icmp' : transport;
}

export function requiredTransport(record: JsonObject): string {
  return suricataTransport(record) ?? reject('proto', 'is missing');
}

/** The sensor's configured name, else the interface it listens on. Shippers put an object of theirs in the place of `host`. */
export function suricataSensor(record: JsonObject): string | undefined {
  const name = isObject(record.host) ? undefined : text(record.host, 'host');
  return name ?? text(record.in_iface, 'in_iface');
}
