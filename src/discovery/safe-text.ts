import { domainName } from '../net/host-name.ts';

/**
 * Sanitises text from a peer for storage and display: well-formed, one line, without control and formatting characters
 * (terminal escape sequences, bidirectional marks), at most `maxLength` code units. Returns undefined if nothing
 * remains.
 */
export function safeText(text: string, maxLength: number): string | undefined {
  const clean = text
    .slice(0, 4 * maxLength)
    .toWellFormed()
    .replaceAll(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replaceAll(/[\p{Cf}\p{Co}\p{Cn}\ufffd]/gu, '')
    .trim();
  const cut = clean.slice(0, maxLength);
  // Truncation may split a surrogate pair.
  const whole = cut.isWellFormed() ? cut : cut.slice(0, -1);
  return whole.trim() || undefined;
}

/**
 * Returns a host name from a name server or certificate in lower case without a trailing dot; undefined if it
 * is not valid.
 */
export function safeHostName(name: string): string | undefined {
  // DNS and certificates contain internationalised names in ASCII form (RFC 5890).
  return /^[!-~]{1,254}$/.test(name) ? domainName(name) : undefined;
}
