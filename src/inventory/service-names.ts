/**
 * What services are called. Sensors and scanners have different words for one protocol; a service has one, so that a
 * filter finds all of them: Suricata's (src/app-layer-protos.c), and for what comes through TLS the registered one
 * (https, smtps, imaps).
 *
 * | Zeek (`service`)  | Suricata (`app_proto`) | nmap            | here   |
 * |-------------------|------------------------|-----------------|--------|
 * | ssl               | tls                    | ssl             | tls    |
 * | ssl,http          |                        | http over ssl   | https  |
 * | krb, krb_tcp      | krb5                   | kerberos-sec    | krb5   |
 * | dce_rpc           | dcerpc                 | msrpc           | dcerpc |
 * | smb               | smb                    | microsoft-ds    | smb    |
 * | rdp               | rdp                    | ms-wbt-server   | rdp    |
 * | dns               | dns                    | domain          | dns    |
 */
const words: ReadonlyMap<string, string> = new Map([
  ['ssl', 'tls'],
  ['krb', 'krb5'],
  ['krb_tcp', 'krb5'],
  ['kerberos-sec', 'krb5'],
  ['dce_rpc', 'dcerpc'],
  ['msrpc', 'dcerpc'],
  ['microsoft-ds', 'smb'],
  ['ms-wbt-server', 'rdp'],
  ['domain', 'dns'],
]);

/** Names that say that it is TLS, and what is in it. */
const overTls: ReadonlySet<string> = new Set([
  'https',
  'smtps',
  'imaps',
  'pop3s',
  'ftps',
  'nntps',
  'ircs',
  'ldaps',
]);

/** The name of a protocol, or of several between commas as Zeek has them, in our words. */
export function serviceName(given: string): string {
  const names = new Set(
    given
      .toLowerCase()
      .split(',')
      .map((name) => words.get(name) ?? name),
  );
  // Not so for others: mail begins in the clear and goes on with TLS.
  if (names.size === 2 && names.has('tls') && names.has('http')) return 'https';
  return [...names].join(',');
}

/** What a service is called that had one name and is said to have another: `tls` alone takes nothing from `https`. */
export function toldName(known: string | undefined, said: string | undefined): string | undefined {
  if (said === undefined) return known;
  const name = serviceName(said);
  return name === 'tls' && known !== undefined && overTls.has(known) ? known : name;
}
