import { isObject, type JsonObject, list, mac, port, text, zeekTime } from './fields.ts';
import { absoluteUrl, hostNameField, inCertificate, isProxyPort, takeNamedHosts, takeTunnel } from './named-hosts.ts';
import type { ParseContext } from './parse-context.ts';
import { requiredZeekTransport, type ZeekIds } from './zeek-envelope.ts';

/*
 * Readers of logs with facts about hosts, but without events. A record counts as accepted if it has a fact
 * about a home host, otherwise as ignored.
 */

/**
 * Reads a line of known_hosts.log: the host completed a TCP handshake (zeek
 * scripts/policy/protocols/conn/known-hosts.zeek).
 */
export function zeekKnownHost(r: JsonObject, { addresses, batch }: ParseContext): void {
  const at = zeekTime(r.ts, 'ts');
  const host = addresses.required(r.host, 'host');
  if (host.home) batch.sight({ kind: 'host', ip: host.text }, at);
  else batch.ignore();
}

/** Reads a line of known_services.log (zeek scripts/policy/protocols/conn/known-services.zeek). */
export function zeekKnownService(r: JsonObject, { addresses, batch }: ParseContext): void {
  const at = zeekTime(r.ts, 'ts');
  const host = addresses.required(r.host, 'host');
  const number = port(r.port_num, 'port_num') ?? 0;
  const transport = requiredZeekTransport(r.port_proto, 'port_proto');
  const name = firstService(r.service);
  if (!host.home || number === 0) return batch.ignore();
  const service = { kind: 'service', ip: host.text, port: number, transport } as const;
  batch.sight(name === undefined ? service : { ...service, name }, at);
}

/** Returns the first service of a set, which is an array, or a list with commas. */
function firstService(value: unknown): string | undefined {
  const first = typeof value === 'string' ? value.split(',')[0] : list(value, 'service')?.[0];
  return text(first, 'service')?.toLowerCase();
}

/**
 * Reads a line of known_devices.log: a device of the local segment, with the name that the device sent in
 * DHCP.
 */
export function zeekKnownDevice(r: JsonObject, { batch }: ParseContext): void {
  const at = zeekTime(r.ts, 'ts');
  const device = mac(r.mac, 'mac');
  const name = hostNameField(r.dhcp_host_name, 'dhcp_host_name');
  if (device === undefined) return batch.ignore();
  batch.sight({ kind: 'host', mac: device }, at);
  if (name !== undefined) batch.alsoSight({ kind: 'name', mac: device, name, from: 'dhcp' }, at);
}

/**
 * Reads a line of dhcp.log (zeek scripts/base/protocols/dhcp/main.zeek): the assigned address and the
 * client's host name. Before Zeek 2.6 the address was `assigned_ip`.
 */
export function zeekDhcp(r: JsonObject, { addresses, batch }: ParseContext): void {
  const at = zeekTime(r.ts, 'ts');
  const assigned = r.assigned_addr === undefined ? 'assigned_ip' : 'assigned_addr';
  const address = addresses.optional(r[assigned], assigned);
  const device = mac(r.mac, 'mac');
  const name = hostNameField(r.client_fqdn, 'client_fqdn') ?? hostNameField(r.host_name, 'host_name');
  if (address === undefined || !address.home) return batch.ignore();
  const host = { ip: address.text, ...(device === undefined ? {} : { mac: device }) };
  batch.sight({ kind: 'host', ...host }, at);
  if (name !== undefined) batch.alsoSight({ kind: 'name', ...host, name, from: 'dhcp' }, at);
}

/**
 * Reads a line of software.log (zeek scripts/base/frameworks/software/main.zeek): the software on a port, or
 * the operating system of a host. Skips client software, which has no port.
 */
export function zeekSoftware(r: JsonObject, { addresses, batch }: ParseContext): void {
  const at = zeekTime(r.ts, 'ts');
  const host = addresses.required(r.host, 'host');
  const type = text(r.software_type, 'software_type') ?? '';
  const product = text(r.name, 'name');
  const number = port(r.host_p, 'host_p');
  const version = softwareVersion(r);
  if (!host.home || product === undefined) return batch.ignore();
  if (type.startsWith('OS::')) {
    batch.sight({ kind: 'system', ip: host.text, os: version === undefined ? product : `${product} ${version}` }, at);
  } else if (number !== undefined && number > 0 && type.endsWith('SERVER')) {
    const service = { kind: 'service', ip: host.text, port: number, transport: 'tcp', product } as const;
    batch.sight(version === undefined ? service : { ...service, version }, at);
  } else batch.ignore();
}

/** Reads `version.major` and so on, or `version: {major…}` in the nested dialect. */
function softwareVersion(r: JsonObject): string | undefined {
  const part = (name: string) => (isObject(r.version) ? r.version[name] : r[`version.${name}`]);
  const numbers: unknown[] = [];
  for (const name of ['major', 'minor', 'minor2', 'minor3']) {
    const value = part(name);
    if (typeof value !== 'number' || !Number.isSafeInteger(value)) break;
    numbers.push(value);
  }
  const addition = text(part('addl'), 'version.addl');
  if (numbers.length === 0) return addition;
  return addition === undefined ? numbers.join('.') : `${numbers.join('.')}-${addition}`;
}

/**
 * Reads a line of ssl.log: the requested server name as a contact, and as the name of a home host if the
 * certificate covers it. Clients can request any name, and external clients can request names of other hosts. The log
 * is not stored, so the record counts as ignored; rules are still evaluated.
 */
export function zeekTls(r: JsonObject, ids: ZeekIds, reading: ParseContext): void {
  const { addresses, batch } = reading;
  const established = r.established === true || r.established === 'T';
  batch.ignore();
  takeNamedHosts('server_name', [r.server_name], { ...contactOf(r, ids), answered: established }, reading);
  if (!established) return;
  const client = addresses.optional(ids.orig_h, ids.names.orig_h);
  const server = addresses.optional(ids.resp_h, ids.names.resp_h);
  const name = hostNameField(r.server_name, 'server_name');
  if (client?.home !== true || server?.home !== true || name === undefined) return;
  const certified = r.sni_matches_cert === true || r.sni_matches_cert === 'T' || inCertificate(name, r.subject);
  if (!certified || isProxyPort(ids.resp_p)) return;
  const named = { kind: 'name', ip: server.text, name, from: 'tls', clients: [client.text] } as const;
  batch.alsoSight(named, zeekTime(r.ts, 'ts'));
}

/**
 * Reads a line of http.log: the hosts that a client requested, from the server or a proxy. The log is not
 * stored.
 */
export function zeekHttp(r: JsonObject, ids: ZeekIds, reading: ParseContext): void {
  reading.batch.ignore();
  const record = { ...contactOf(r, ids), answered: r.status_code !== undefined };
  takeTunnel(r.method, r.status_code, record, reading);
  takeNamedHosts('http_host', [r.host, absoluteUrl(r.uri, r.method)], record, reading);
}

/** Reads a line of quic.log: the requested server name. The log is not stored. */
export function zeekQuic(r: JsonObject, ids: ZeekIds, reading: ParseContext): void {
  reading.batch.ignore();
  const record = { ...contactOf(r, ids), transport: 'udp', answered: false } as const;
  takeNamedHosts('server_name', [r.server_name], record, reading);
}

const contactOf = (r: JsonObject, { orig_h, resp_h, resp_p }: ZeekIds) =>
  ({
    src: orig_h,
    dst: resp_h,
    port: resp_p,
    transport: 'tcp',
    time: r.ts,
    timeOf: zeekTime,
  }) as const;
