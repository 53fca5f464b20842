import { invalidField } from '../errors.ts';

const secrets: ReadonlySet<string> = new Set(['access_token', 'authorization', 'password', 'refresh_token', 'token']);

/** Returns whether a parameter of this name holds credentials. */
export const isSecretName = (name: string): boolean => secrets.has(name);

/**
 * Refuses credentials in a URL, because proxies and browser histories store URLs (RFC 6750, section 5.3).
 *
 * @param query - as sent, without the question mark
 * @throws INVALID_REQUEST naming the parameter, never its value
 */
export function refuseCredentials(query: string): void {
  if (query === '') return;
  for (const pair of query.split('&')) {
    const name = nameOf(pair);
    if (secrets.has(name))
      throw invalidField(name, 'must not be in a URL, which is often logged: send it in the Authorization header');
  }
}

/** Returns the decoded name of a parameter. A name with broken percent-encoding cannot be a secret name. */
function nameOf(pair: string): string {
  const name = pair.split('=', 1)[0] ?? '';
  try {
    return decodeURIComponent(name.replaceAll('+', ' ')).trim().toLowerCase();
  } catch {
    return '';
  }
}
