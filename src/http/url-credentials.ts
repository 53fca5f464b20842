import { invalidField } from '../errors.ts';

const secrets: ReadonlySet<string> = new Set([
  'access_token',
  'authorization',
  'password',
  'refresh_token',
  'token',
]);

/** Whether a parameter of this name holds credentials. */
export const isSecretName = (name: string): boolean => secrets.has(name);

/**
 * Credentials do not belong into a URL: proxies, browsers and their histories keep it (RFC 6750, section 5.3).
 *
 * @param query - as sent, without the question mark
 * @throws INVALID_REQUEST naming the parameter, never what it holds.
 */
export function refuseCredentials(query: string): void {
  if (query === '') return;
  for (const pair of query.split('&')) {
    const name = nameOf(pair);
    if (secrets.has(name))
      throw invalidField(
        name,
        'must not be in a URL, which others keep: send it in the Authorization header',
      );
  }
}

/** Its percent-encoding may be broken: then it is none of these. */
function nameOf(pair: string): string {
  const name = pair.split('=', 1)[0] ?? '';
  try {
    return decodeURIComponent(name.replaceAll('+', ' ')).trim().toLowerCase();
  } catch {
    return '';
  }
}
