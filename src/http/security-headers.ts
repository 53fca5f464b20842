import type { Header } from './reply.ts';

/**
 * Headers of every response. Responses other than pages must not load content or be framed, and may be
 * interpreted only as their type (no Permissions-Policy, which is for pages). The resource policy keeps other
 * sites from embedding responses. It does not affect scripts that fetch with CORS (Fetch standard, section
 * 4.3, requires it for opaque responses only), so proofs can be checked in any browser whose origin is
 * configured.
 */
const always: readonly Header[] = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
  ['Referrer-Policy', 'no-referrer'],
  ['Cache-Control', 'no-store'],
];

/**
 * Header that makes browsers use TLS for a year (RFC 6797). It is sent over TLS only (section 7.2), and
 * without `includeSubDomains`, because subdomains may belong to other services.
 */
const overTls: Header = ['Strict-Transport-Security', 'max-age=31536000'];

/** Returns the general headers of all responses. A header that a response sets itself takes precedence. */
export function securityHeaders(isTls: boolean): readonly Header[] {
  return isTls ? [...always, overTls] : always;
}
