import { isObject, isoTime, type JsonObject, mac, object } from './fields.ts';
import { absoluteUrl, hostNameField, inCertificate, isProxyPort, takeNamedHosts, takeTunnel } from './named-hosts.ts';
import type { ParseContext } from './parse-context.ts';

/** Reads `dhcp`: the address and the name of a home host, from a server's acknowledgement. */
export function suricataDhcp(r: JsonObject, { addresses, batch }: ParseContext): void {
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
 * Reads `tls`: the requested server name as a contact, and as the name of a home host if the certificate covers
 * it. Clients can request any name, and external clients can request names of other hosts. The record is not stored,
 * so it counts as ignored; rules are still evaluated.
 */
export function suricataTls(r: JsonObject, reading: ParseContext): void {
  const { addresses, batch } = reading;
  batch.ignore();
  const tls = object(r.tls, 'tls') ?? {};
  const answered = hasServerHello(tls);
  takeTransaction(r, {}, reading);
  const client = addresses.optional(r.src_ip, 'src_ip');
  const server = addresses.optional(r.dest_ip, 'dest_ip');
  const name = hostNameField(tls.sni, 'tls.sni');
  if (!answered || client?.home !== true || server?.home !== true || name === undefined) return;
  if (!inCertificate(name, tls.subject, tls.subjectaltname) || isProxyPort(r.dest_port)) return;
  const named = { kind: 'name', ip: server.text, name, from: 'tls', clients: [client.text] } as const;
  batch.alsoSight(named, isoTime(r.timestamp, 'timestamp'));
}

/** Reads `http`: the hosts that a client requested, from the server or a proxy. The record is not stored. */
export function suricataHttp(r: JsonObject, reading: ParseContext): void {
  reading.batch.ignore();
  takeTransaction(r, {}, reading);
}

/**
 * Reads `fileinfo`, whose source address sent the file. Skips records that do not show which address is the
 * server, because external clients can request any name.
 */
export function suricataFile(r: JsonObject, reading: ParseContext): void {
  reading.batch.ignore();
  const isDownload = isObject(r.http) && r.http.http_method === 'GET';
  if (r.direction === 'to_client' || (r.direction === undefined && isDownload))
    takeTransaction(r, { src: r.dest_ip, dst: r.src_ip, port: r.src_port }, reading);
  else if (r.direction === 'to_server') takeTransaction(r, {}, reading);
}

/**
 * Adds the hosts that the HTTP or TLS transaction in a record names.
 *
 * @param ends - client and server, if they differ from source and destination of the record
 */
export function takeTransaction(
  r: JsonObject,
  ends: { readonly src?: unknown; readonly dst?: unknown; readonly port?: unknown },
  reading: ParseContext,
): void {
  const http = isObject(r.http) ? r.http : {};
  const tls = isObject(r.tls) ? r.tls : {};
  const record = { ...contactOf(r, 'tcp'), ...ends };
  const urls = [http.hostname, absoluteUrl(http.url, http.http_method)];
  takeTunnel(http.http_method, http.status, record, reading);
  takeNamedHosts('http_host', urls, { ...record, answered: http.status !== undefined }, reading);
  takeNamedHosts('server_name', [tls.sni], { ...record, answered: hasServerHello(tls) }, reading);
}

const hasServerHello = ({ version }: JsonObject): boolean => version !== undefined && version !== 'UNDETERMINED';

/** Reads `quic`: the requested server name. The record is not stored. */
export function suricataQuic(r: JsonObject, reading: ParseContext): void {
  reading.batch.ignore();
  const quic = isObject(r.quic) ? r.quic : {};
  takeNamedHosts('server_name', [quic.sni], { ...contactOf(r, 'udp'), answered: false }, reading);
}

const contactOf = <T extends 'tcp' | 'udp'>(r: JsonObject, transport: T) => ({
  src: r.src_ip,
  dst: r.dest_ip,
  port: r.dest_port,
  transport,
  time: r.timestamp,
  timeOf: isoTime,
});
