/**
 * Normalised names of application protocols. Sensors and scanners use different names for the same protocol. Events and
 * services use the names of Suricata (src/app-layer-protos.c), so that one filter finds all events and services of a
 * protocol.
 *
 * | Zeek (`service`)  | Suricata (`app_proto`) | nmap            | here   |
 * |-------------------|------------------------|-----------------|--------|
 * | ssl               | tls                    | ssl             | tls    |
 * | krb, krb_tcp      | krb5                   | kerberos-sec    | krb5   |
 * | dce_rpc           | dcerpc                 | msrpc           | dcerpc |
 * | smb               | smb                    | microsoft-ds    | smb    |
 * | rdp               | rdp                    | ms-wbt-server   | rdp    |
 * | dns               | dns                    | domain          | dns    |
 * | ldap_tcp, ldap_udp | ldap                  | ldap            | ldap   |
 * | postgresql        | pgsql                  | postgresql      | pgsql  |
 * | rfb               | rfb                    | vnc             | rfb    |
 */
const words: ReadonlyMap<string, string> = new Map([
  ['ssl', 'tls'],
  ['krb', 'krb5'],
  ['krb_tcp', 'krb5'],
  ['kerberos', 'krb5'],
  ['kerberos-sec', 'krb5'],
  ['dce_rpc', 'dcerpc'],
  ['msrpc', 'dcerpc'],
  ['microsoft-ds', 'smb'],
  ['ms-wbt-server', 'rdp'],
  ['domain', 'dns'],
  ['ldap_tcp', 'ldap'],
  ['ldap_udp', 'ldap'],
  ['postgresql', 'pgsql'],
  ['vnc', 'rfb'],
]);

/** Maximum number of protocols per connection. Sensors report only a few; a longer text is not a list of protocols. */
export const maxAppProtocols = 16;

/** Returns the normalised name for the name that a sensor uses. */
export function protocolWord(given: string): string {
  const name = given.toLowerCase();
  return words.get(name) ?? name;
}

/** Returns the stored names that a filter value matches. `https` also matches `tls`, which sensors record for it. */
export const wantedProtocols = (given: string): readonly string[] =>
  given.toLowerCase() === 'https' ? ['https', 'tls'] : [protocolWord(given)];

/** Returns all names of a protocol, the normalised name first. */
export function protocolSpellings(given: string): string[] {
  const name = protocolWord(given);
  return [name, ...[...words].flatMap(([word, meant]) => (meant === name ? [word] : []))];
}

/** Returns the distinct protocols in a comma-separated text, as written by Zeek and stored in events. */
export function appProtocols(text: string): readonly string[] {
  if (!text.includes(',')) return text === '' ? [] : [protocolWord(text)];
  const names = text.split(',', maxAppProtocols).filter((name) => name !== '');
  return [...new Set(names.map(protocolWord))];
}

/** Joins protocols into the comma-separated text that events store; undefined for an empty list. */
export const joinedProtocols = (names: Iterable<string>): string | undefined => {
  const text = appProtocols([...names].join(',')).join(',');
  return text === '' ? undefined : text;
};

interface ShownProtocols {
  readonly app_protocol?: string;
  readonly app_protocols?: readonly string[];
  readonly app_protocol_stored?: string;
}

/**
 * Returns the attributes for a stored text. `app_protocol_stored` is set for events stored before names were
 * normalised.
 */
export function shownProtocols(stored: string): ShownProtocols {
  const names = appProtocols(stored);
  const shown = names.length === 0 ? {} : { app_protocol: names[0]!, app_protocols: names };
  return names.join(',') === stored ? shown : { ...shown, app_protocol_stored: stored };
}
