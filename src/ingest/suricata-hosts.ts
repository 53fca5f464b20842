import { absoluteUrl, takeContacts } from './contacts.ts';
import { isObject, isoTime, type JsonObject, mac, object } from './fields.ts';
import { hostNameField, inCertificate, isProxyPort } from './host-name.ts';
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
 * `tls`: the name under which a server was asked for, where its certificate has it. Clients ask for whatever name they like,
 * and external ones for names of others. The record is not stored, so that it counts as ignored; rules see it.
 */
export function suricataTls(r: JsonObject, reading: Reading): void {
  const { addresses, batch } = reading;
  batch.ignore();
  const tls = object(r.tls, 'tls') ?? {};
  const answered = tls.version !== undefined && tls.version !== 'UNDETERMINED';
  takeContacts('server_name', [tls.sni], { ...contactOf(r, 'tcp'), answered }, reading);
  const client = addresses.optional(r.src_ip, 'src_ip');
  const server = addresses.optional(r.dest_ip, 'dest_ip');
  const name = hostNameField(tls.sni, 'tls.sni');
  if (!answered || client?.home !== true || server?.home !== true || name === undefined) return;
  if (!inCertificate(name, tls.subject, tls.subjectaltname) || isProxyPort(r.dest_port)) return;
  const named = { kind: 'name', ip: server.text, name, from: 'tls', clients: [client.text] } as const;
  batch.alsoSight(named, isoTime(r.timestamp, 'timestamp'));
}

/** `http`: the hosts that a client asked for, of itself or a proxy. The record is not stored. */
export function suricataHttp(r: JsonObject, reading: Reading): void {
  reading.batch.ignore();
  const http = isObject(r.http) ? r.http : {};
  const record = { ...contactOf(r, 'tcp'), answered: http.status !== undefined };
  takeContacts('http_host', [http.hostname, absoluteUrl(http.url, http.http_method)], record, reading);
}

/** `quic`: the name under which a server was asked for. The record is not stored. */
export function suricataQuic(r: JsonObject, reading: Reading): void {
  reading.batch.ignore();
  const quic = isObject(r.quic) ? r.quic : {};
  takeContacts('server_name', [quic.sni], { ...contactOf(r, 'udp'), answered: false }, reading);
}

const contactOf = <T extends 'tcp' | 'udp'>(r: JsonObject, transport: T) => ({
  src: r.src_ip,
  dst: r.dest_ip,
  port: r.dest_port,
  transport,
  time: r.timestamp,
  timeOf: isoTime,
});
