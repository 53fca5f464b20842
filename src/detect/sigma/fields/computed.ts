import { appProtocols, protocolSpellings } from '../../../contract/app-protocols.ts';
import { registeredDomain } from '../../../events/registered-domain.ts';
import { type Accessor, isObject } from '../record.ts';

// Fields that a record does not have as such, made of those that it has. Each takes how to read what it is made of.

type Of = (read: Accessor) => Accessor;

const ofText =
  (compute: (text: string) => unknown): Of =>
  (read) =>
  (record) => {
    const value = read(record);
    return typeof value === 'string' ? compute(value) : undefined;
  };

/** The part of a name that somebody registered; see events/registered-domain.ts. */
export const registered = ofText(registeredDomain);

/** What precedes it: `a.b` of `a.b.example.org`. */
export const subdomain = ofText((name) => {
  const domain = registeredDomain(name);
  if (domain === undefined) return undefined;
  const host = name.endsWith('.') ? name.slice(0, -1) : name;
  return host.length > domain.length ? host.slice(0, host.length - domain.length - 1) : undefined;
});

/** The public suffix, as far as one can be registered under it: `co.uk` of `example.co.uk`. */
export const publicSuffix = ofText((name) => registeredDomain(name)?.replace(/^[^.]*\./, ''));

export const length = ofText((text) => text.length);

/** `ssl,http`, and each of the two. */
export const listed = ofText((text) => (text.includes(',') ? [text, ...text.split(',')] : text));

/** All words that mean one of the protocols of an event: rules for a sensor use that sensor's. */
export const spelled: Of = (read) => (record) => {
  const names = read(record);
  if (!Array.isArray(names)) return undefined;
  const given = names.map(String);
  return [...new Set([...given, ...given.flatMap(appProtocols).flatMap(protocolSpellings)])];
};

/** A URL's path: of `/a/b.exe?c=d`, with or without scheme and host, `/a/b.exe`. */
export const urlPath = ofText(pathOf);
export const urlQuery = ofText((url) => {
  const mark = url.indexOf('?');
  return mark < 0 ? undefined : url.slice(mark + 1);
});
/** Without the dot, of the path's last part. */
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

/** Without the port. */
export const hostOf = ofText((host) => host.replace(/:\d{1,5}$/, ''));

/** With scheme and host, as a proxy is asked for it. */
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

/** The names of flags that are set. */
export function flags(byName: Readonly<Record<string, Accessor>>): Accessor {
  const all = Object.entries(byName);
  return (record) => all.flatMap(([name, read]) => (read(record) === true ? [name] : []));
}

/** Whether a list has the value; of what is no list nobody knows. */
export const includes =
  (value: unknown): Of =>
  (read) =>
  (record) => {
    const list = read(record);
    return Array.isArray(list) ? list.includes(value) : undefined;
  };

/** Ports that only servers of names have: DNS, NetBIOS, mDNS, LLMNR. */
const namePorts: ReadonlySet<unknown> = new Set([53, 137, 5353, 5355]);

/**
 * One end of a DNS message of Suricata's: in format 3 the source of a response is the server, in others that of the flow
 * is the client always; a port that only servers have decides.
 */
export function suricataDnsEnd(client: boolean, ofSource: string, ofDestination: string): Accessor {
  return (record) => {
    const bySource = namePorts.has(record.src_port);
    const byDestination = namePorts.has(record.dest_port);
    const { dns } = record;
    const response = isObject(dns) && (dns.type === 'response' || dns.type === 'answer');
    const reply =
      response && (bySource === byDestination ? isObject(dns) && dns.type === 'response' : bySource);
    return record[client === reply ? ofDestination : ofSource];
  };
}
