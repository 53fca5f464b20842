import { absoluteUrl, takeContacts } from './contacts.ts';
import { isObject, type JsonObject, list, mac, port, text, zeekTime } from './fields.ts';
import { hostNameField, inCertificate, isProxyPort } from './host-name.ts';
import type { Reading } from './reading.ts';
import { requiredZeekTransport, type ZeekIds } from './zeek-envelope.ts';

/*
 * Logs that are no events and tell of hosts. A record counts as accepted where something was learned of a host of the
 * home networks, else as ignored.
 */

/** A line of known_hosts.log: completed a TCP handshake (zeek scripts/policy/protocols/conn/known-hosts.zeek). */
export function zeekKnownHost(r: JsonObject, { addresses, batch }: Reading): void {
  const at = zeekTime(r.ts, 'ts');
  const host = addresses.required(r.host, 'host');
  if (host.home) batch.sight({ kind: 'host', ip: host.text }, at);
  else batch.ignore();
}

/** A line of known_services.log (zeek scripts/policy/protocols/conn/known-services.zeek). */
export function zeekKnownService(r: JsonObject, { addresses, batch }: Reading): void {
  const at = zeekTime(r.ts, 'ts');
  const host = addresses.required(r.host, 'host');
  const number = port(r.port_num, 'port_num') ?? 0;
  const transport = requiredZeekTransport(r.port_proto, 'port_proto');
  const name = firstService(r.service);
  if (!host.home || number === 0) return batch.ignore();
  const service = { kind: 'service', ip: host.text, port: number, transport } as const;
  batch.sight(name === undefined ? service : { ...service, name }, at);
}

/** A set in JSON is an array, in TSV a list with commas. */
function firstService(value: unknown): string | undefined {
  const first = typeof value === 'string' ? value.split(',')[0] : list(value, 'service')?.[0];
  return text(first, 'service')?.toLowerCase();
}

/** A line of known_devices.log: a device of the local segment, with the name that it gave to DHCP. */
export function zeekKnownDevice(r: JsonObject, { batch }: Reading): void {
  const at = zeekTime(r.ts, 'ts');
  const device = mac(r.mac, 'mac');
  const name = hostNameField(r.dhcp_host_name, 'dhcp_host_name');
  if (device === undefined) return batch.ignore();
  batch.sight({ kind: 'host', mac: device }, at);
  if (name !== undefined) batch.alsoSight({ kind: 'name', mac: device, name, from: 'dhcp' }, at);
}

/**
 * A line of dhcp.log (zeek scripts/base/protocols/dhcp/main.zeek): who was given which address, and what he calls
 * himself. Before Zeek 2.6 the address was `assigned_ip`.
 */
export function zeekDhcp(r: JsonObject, { addresses, batch }: Reading): void {
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
 * A line of software.log (zeek scripts/base/frameworks/software/main.zeek): what serves a port, or which system a
 * host runs. Software of clients is of no port, and passed over.
 */
export function zeekSoftware(r: JsonObject, { addresses, batch }: Reading): void {
  const at = zeekTime(r.ts, 'ts');
  const host = addresses.required(r.host, 'host');
  const type = text(r.software_type, 'software_type') ?? '';
  const product = text(r.name, 'name');
  const number = port(r.host_p, 'host_p');
  const version = softwareVersion(r);
  if (!host.home || product === undefined) return batch.ignore();
  if (type.startsWith('OS::')) {
    batch.sight(
      { kind: 'system', ip: host.text, os: version === undefined ? product : `${product} ${version}` },
      at,
    );
  } else if (number !== undefined && number > 0 && type.endsWith('SERVER')) {
    const service = { kind: 'service', ip: host.text, port: number, transport: 'tcp', product } as const;
    batch.sight(version === undefined ? service : { ...service, version }, at);
  } else batch.ignore();
}

/** `version.major` and so on, or `version: {major…}` in the dialect that nests. */
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
 * A line of ssl.log: the name under which a server was asked for, where its certificate has it. Clients ask for whatever
 * name they like, and external ones for names of others. The log is not stored, so that it counts as ignored; rules see it.
 */
export function zeekTls(r: JsonObject, ids: ZeekIds, reading: Reading): void {
  const { addresses, batch } = reading;
  const established = r.established === true || r.established === 'T';
  batch.ignore();
  takeContacts('server_name', [r.server_name], { ...contactOf(r, ids), answered: established }, reading);
  if (!established) return;
  const client = addresses.optional(ids.orig_h, ids.names.orig_h);
  const server = addresses.optional(ids.resp_h, ids.names.resp_h);
  const name = hostNameField(r.server_name, 'server_name');
  if (client?.home !== true || server?.home !== true || name === undefined) return;
  const certified =
    r.sni_matches_cert === true || r.sni_matches_cert === 'T' || inCertificate(name, r.subject);
  if (!certified || isProxyPort(ids.resp_p)) return;
  const named = { kind: 'name', ip: server.text, name, from: 'tls', clients: [client.text] } as const;
  batch.alsoSight(named, zeekTime(r.ts, 'ts'));
}

/** A line of http.log: the hosts that a client asked for, of itself or a proxy. The log is not stored. */
export function zeekHttp(r: JsonObject, ids: ZeekIds, reading: Reading): void {
  reading.batch.ignore();
  const record = { ...contactOf(r, ids), answered: r.status_code !== undefined };
  takeContacts('http_host', [r.host, absoluteUrl(r.uri, r.method)], record, reading);
}

/** A line of quic.log: the name under which a server was asked for. The log is not stored. */
export function zeekQuic(r: JsonObject, ids: ZeekIds, reading: Reading): void {
  reading.batch.ignore();
  const record = { ...contactOf(r, ids), transport: 'udp', answered: false } as const;
  takeContacts('server_name', [r.server_name], record, reading);
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
