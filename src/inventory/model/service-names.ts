import { appProtocols } from '../../contract/app-protocols.ts';

/** Names of protocols over TLS. */
const overTls: ReadonlySet<string> = new Set(['https', 'smtps', 'imaps', 'pop3s', 'ftps', 'nntps', 'ircs', 'ldaps']);

/**
 * Returns the name of a service: the registered name for HTTP over TLS (https), otherwise the names in the
 * vocabulary.
 */
export function serviceName(given: string): string {
  const names = appProtocols(given);
  // This applies only to HTTP, because mail begins in clear text and continues with TLS.
  if (names.length === 2 && names.includes('tls') && names.includes('http')) return 'https';
  return names.join(',');
}

/** Returns the name of a service after a new report: `tls` alone does not replace a protocol over TLS. */
export function toldName(known: string | undefined, said: string | undefined): string | undefined {
  if (said === undefined) return known;
  const name = serviceName(said);
  return name === 'tls' && known !== undefined && overTls.has(known) ? known : name;
}
