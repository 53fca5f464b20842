import { appProtocols, protocolSpellings } from '../../../contract/app-protocols.ts';
import { registeredDomain } from '../../../net/registered-domain.ts';
import { type Accessor, isObject } from '../record.ts';

// Fields that are computed from other fields. Each function takes the accessor of its source field.

type Of = (read: Accessor) => Accessor;

const ofText =
  (compute: (text: string) => unknown): Of =>
  (read) =>
  (record) => {
    const value = read(record);
    return typeof value === 'string' ? compute(value) : undefined;
  };

/** Returns the registered part of a name; see net/registered-domain.ts. */
export const registered = ofText(registeredDomain);

/** Returns the part before the registered domain: `a.b` of `a.b.example.org`. */
export const subdomain = ofText((name) => {
  const domain = registeredDomain(name);
  if (domain === undefined) return undefined;
  const host = name.endsWith('.') ? name.slice(0, -1) : name;
  return host.length > domain.length ? host.slice(0, host.length - domain.length - 1) : undefined;
});

/** Returns the public suffix of a registrable name: `co.uk` of `example.co.uk`. */
export const publicSuffix = ofText((name) => registeredDomain(name)?.replace(/^[^.]*\./, ''));

export const length = ofText((text) => text.length);

/** Returns a text such as `ssl,http` and each of its parts. */
export const listed = ofText((text) => (text.includes(',') ? [text, ...text.split(',')] : text));

/**
 * Returns all spellings of an event's protocols, because rules for a sensor use the spelling of that sensor.
 */
export const spelled: Of = (read) => (record) => {
  const names = read(record);
  if (!Array.isArray(names)) return undefined;
  const given = names.map(String);
  return [...new Set([...given, ...given.flatMap(appProtocols).flatMap(protocolSpellings)])];
};

/** Returns the path of a URL: `/a/b.exe` for `/a/b.exe?c=d`, with or without scheme and host. */
export const urlPath = ofText(pathOf);
export const urlQuery = ofText((url) => {
  const mark = url.indexOf('?');
  return mark < 0 ? undefined : url.slice(mark + 1);
});
/** Returns the extension of the last path segment, without the dot. */
export const urlExtension = ofText((url) => {
  const file = pathOf(url);
  const name = file.slice(file.lastIndexOf('/') + 1);
  const dot = name.lastIndexOf('.');
  return dot < 0 ? undefined : name.slice(dot + 1);
});

function pathOf(url: string): string {
  const query = url.indexOf('?');
  const before = query < 0 ? url : url.slice(0, query);
  const fragment = before.indexOf('#');
  const path = fragment < 0 ? before : before.slice(0, fragment);
  return path.startsWith('/') ? path : path.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '');
}

/** Returns a host without its port. */
export const hostOf = ofText((host) => host.replace(/:\d{1,5}$/, ''));

/** Returns the URL with scheme and host, as in requests to a proxy. */
export function fullUrl(host: Accessor, uri: Accessor): Accessor {
  return (record) => {
    const path = uri(record);
    const name = host(record);
    if (typeof path !== 'string' || path.includes('://')) return path;
    return typeof name === 'string' ? `http://${name}${path}` : undefined;
  };
}

export const ipVersion = ofText((address) => (address.includes(':') ? 'ipv6' : 'ipv4'));

export const scaled =
  (factor: number): Of =>
  (read) =>
  (record) => {
    const value = read(record);
    return typeof value === 'number' ? value * factor : undefined;
  };

/** Returns the names of the set flags. */
export function flags(byName: Readonly<Record<string, Accessor>>): Accessor {
  const all = Object.entries(byName);
  return (record) => all.flatMap(([name, read]) => (read(record) === true ? [name] : []));
}

/** Returns whether a list contains the value; undefined if the field is not a list. */
export const includes =
  (value: unknown): Of =>
  (read) =>
  (record) => {
    const list = read(record);
    return Array.isArray(list) ? list.includes(value) : undefined;
  };

/** Ports that only name servers use: DNS, NetBIOS, mDNS, LLMNR. */
const namePorts: ReadonlySet<unknown> = new Set([53, 137, 5353, 5355]);

/**
 * Returns the address or port of the client or the server of a Suricata DNS message. In format 3, the source of a
 * response is the server; in other formats, the source is always the client. A port that only servers use takes
 * precedence.
 */
export function suricataDnsEnd(client: boolean, ofSource: string, ofDestination: string): Accessor {
  return (record) => {
    const bySource = namePorts.has(record.src_port);
    const byDestination = namePorts.has(record.dest_port);
    const { dns } = record;
    const response = isObject(dns) && (dns.type === 'response' || dns.type === 'answer');
    const reply = response && (bySource === byDestination ? isObject(dns) && dns.type === 'response' : bySource);
    return record[client === reply ? ofDestination : ofSource];
  };
}
