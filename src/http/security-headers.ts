import type { Header } from './reply.ts';

/**
 * What every answer tells a browser. Nothing that is answered here is a page: it may load nothing, be shown in no
 * frame, and be taken for nothing but its type (hence no Permissions-Policy, which is for pages). The resource policy
 * keeps other sites from embedding answers; it does not touch scripts that fetch with CORS (Fetch standard, section
 * 4.3, asks for it for opaque responses only), so proofs can be checked in any browser whose origin is configured.
 */
const always: readonly Header[] = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
  ['Referrer-Policy', 'no-referrer'],
  ['Cache-Control', 'no-store'],
];

/**
 * RFC 6797: a browser that came over TLS once keeps to it for a year. Sent over TLS only (section 7.2), and for this
 * host alone: its subdomains are not ours to speak for.
 */
const overTls: Header = ['Strict-Transport-Security', 'max-age=31536000'];

/** The general headers of all answers. One of the same name in an answer stands in place of the general one. */
export function securityHeaders(isTls: boolean): readonly Header[] {
  return isTls ? [...always, overTls] : always;
}
