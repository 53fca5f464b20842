import { appProtocols } from '../contract/app-protocols.ts';

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

/** The names of services: the word of the vocabulary, and the registered name for a protocol inside TLS (https). */
export function serviceName(given: string): string {
  const names = appProtocols(given);
  // Not so for others: mail begins in the clear and goes on with TLS.
  if (names.length === 2 && names.includes('tls') && names.includes('http')) return 'https';
  return names.join(',');
}

/** What a service is called that had one name and is said to have another: `tls` alone takes nothing from `https`. */
export function toldName(known: string | undefined, said: string | undefined): string | undefined {
  if (said === undefined) return known;
  const name = serviceName(said);
  return name === 'tls' && known !== undefined && overTls.has(known) ? known : name;
}
