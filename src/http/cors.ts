import type { Header } from './reply.ts';
import type { RequestHead } from './request.ts';

/**
 * Returns the cross-origin headers (Fetch standard, section 3.3); no headers if no origins are configured. Credentials
 * are sent in `Authorization`, which scripts set themselves; cookies are never used.
 */
export function corsHeaders(head: RequestHead, origins: readonly string[]): Header[] {
  if (origins.length === 0) return [];
  if (origins.includes('*')) return [['Access-Control-Allow-Origin', '*'], exposed];
  const origin = head.headers.get('origin');
  if (origin === undefined || !origins.includes(origin)) return [vary];
  return [['Access-Control-Allow-Origin', origin], vary, exposed];
}

const vary: Header = ['Vary', 'Origin'];

const exposed: Header = [
  'Access-Control-Expose-Headers',
  'Allow, Candor-Receipt, ETag, Location, Retry-After, WWW-Authenticate, X-Request-Id',
];

const isAllowed = (head: RequestHead, origins: readonly string[]): boolean =>
  origins.includes('*') || origins.includes(head.headers.get('origin') ?? '');

/**
 * Returns the headers of a response to OPTIONS: `Allow`, and preflight headers for an allowed origin.
 * `Authorization` is listed even if all origins are allowed, because an asterisk does not include it.
 */
export function preflightHeaders(head: RequestHead, allow: string, origins: readonly string[]): Header[] {
  const headers: Header[] = [['Allow', allow]];
  if (head.headers.has('access-control-request-method') && isAllowed(head, origins)) {
    headers.push(
      ['Access-Control-Allow-Methods', allow],
      [
        'Access-Control-Allow-Headers',
        'Authorization, Candor-Receipt, Content-Encoding, Content-Type, Idempotency-Key, If-Match, X-Request-Id',
      ],
      ['Access-Control-Max-Age', '600'],
    );
  }
  return headers;
}
