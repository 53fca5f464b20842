import type { Header } from './reply.ts';
import type { RequestHead } from './request.ts';

/**
 * Cross-origin rules (Fetch standard, section 3.3). Nothing is sent unless origins are configured. Credentials travel
 * in `Authorization`, which scripts set themselves: cookies are never asked for.
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
 * Answer to OPTIONS: `Allow`, and what a preflight of an origin that is allowed asks for. `Authorization` is named even
 * where all origins are: an asterisk does not stand for it.
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
