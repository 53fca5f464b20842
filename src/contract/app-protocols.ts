/**
 * The vocabulary of application protocols. Sensors and scanners have different words for one protocol; events and services
 * have one, so that a filter finds all of them: Suricata's (src/app-layer-protos.c).
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

/** Protocols of one connection. Sensors see at most a few; past this, a text is not a list of protocols. */
export const maxAppProtocols = 16;

/** The word of the vocabulary for a sensor's word. */
export function protocolWord(given: string): string {
  const name = given.toLowerCase();
  return words.get(name) ?? name;
}

/** Words of the vocabulary that a filter value finds: of `https`, sensors see TLS. */
export const wantedProtocols = (given: string): readonly string[] =>
  given.toLowerCase() === 'https' ? ['https', 'tls'] : [protocolWord(given)];

/** All words that mean the same, that of the vocabulary first. */
export function protocolSpellings(given: string): string[] {
  const name = protocolWord(given);
  return [name, ...[...words].flatMap(([word, meant]) => (meant === name ? [word] : []))];
}

/** The protocols in a text with commas, as Zeek writes them and events are stored, each once. */
export function appProtocols(text: string): readonly string[] {
  if (!text.includes(',')) return text === '' ? [] : [protocolWord(text)];
  const names = text.split(',', maxAppProtocols).filter((name) => name !== '');
  return [...new Set(names.map(protocolWord))];
}

/** The same as one text, as events store it. */
export const joinedProtocols = (names: Iterable<string>): string | undefined => {
  const text = appProtocols([...names].join(',')).join(',');
  return text === '' ? undefined : text;
};

interface ShownProtocols {
  readonly app_protocol?: string;
  readonly app_protocols?: readonly string[];
  readonly app_protocol_stored?: string;
}

/** The attributes that show a stored text. `app_protocol_stored` is that of events stored before there was a vocabulary. */
export function shownProtocols(stored: string): ShownProtocols {
  const names = appProtocols(stored);
  const shown = names.length === 0 ? {} : { app_protocol: names[0]!, app_protocols: names };
  return names.join(',') === stored ? shown : { ...shown, app_protocol_stored: stored };
}
