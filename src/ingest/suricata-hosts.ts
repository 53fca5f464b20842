import { isoTime, type JsonObject, mac, object } from './fields.ts';
import { hostNameField } from './host-name.ts';
import type { Reading } from './reading.ts';

/** `dhcp`: who was given which address, in a server's acknowledgement. */
export function suricataDhcp(r: JsonObject, { addresses, batch }: Reading): void {
  const dhcp = object(r.dhcp, 'dhcp') ?? {};
  const address = addresses.optional(dhcp.assigned_ip, 'dhcp.assigned_ip');
  const device = mac(dhcp.client_mac, 'dhcp.client_mac');
  const name = hostNameField(dhcp.hostname, 'dhcp.hostname');
  if (dhcp.dhcp_type !== 'ack' || address === undefined || !address.home) return batch.ignore();
  const at = isoTime(r.timestamp, 'timestamp');
  const host = { ip: address.text, ...(device === undefined ? {} : { mac: device }) };
  batch.sight({ kind: 'host', ...host }, at);
  if (name !== undefined) batch.alsoSight({ kind: 'name', ...host, name, from: 'dhcp' }, at);
}

/**
 * `tls`: the name under which a server was asked for, where it answered with a certificate or a version. Who comes
 * from abroad asks for whatever name he likes. The record is not stored, so that it counts as ignored; rules see it.
 */
export function suricataTls(r: JsonObject, { addresses, batch }: Reading): void {
  batch.ignore();
  const tls = object(r.tls, 'tls') ?? {};
  const client = addresses.optional(r.src_ip, 'src_ip');
  const server = addresses.optional(r.dest_ip, 'dest_ip');
  const name = hostNameField(tls.sni, 'tls.sni');
  const answered = tls.version !== undefined && tls.version !== 'UNDETERMINED';
  if (!answered || client?.home !== true || server?.home !== true || name === undefined) return;
  batch.alsoSight({ kind: 'name', ip: server.text, name, from: 'tls' }, isoTime(r.timestamp, 'timestamp'));
}
