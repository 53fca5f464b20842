import { domainName } from '../events/host-name.ts';

/**
 * What a peer sent, as text to be stored and shown: well-formed, in one line, without control and formatting
 * characters (escape sequences of terminals, marks that reverse the reading direction), at most `maxLength` code units.
 * Undefined where nothing is left.
 */
export function safeText(text: string, maxLength: number): string | undefined {
  const clean = text
    .slice(0, 4 * maxLength)
    .toWellFormed()
    .replaceAll(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replaceAll(/[\p{Cf}\p{Co}\p{Cn}\ufffd]/gu, '')
    .trim();
  const cut = clean.slice(0, maxLength);
  // A pair that was cut in two leaves half of itself behind.
  const whole = cut.isWellFormed() ? cut : cut.slice(0, -1);
  return whole.trim() || undefined;
}

/** A name that a name server or a certificate gave, in lower case without a final dot; undefined where it is none. */
export function safeHostName(name: string): string | undefined {
  // There, letters of other scripts are written in ASCII (RFC 5890).
  return /^[!-~]{1,254}$/.test(name) ? domainName(name) : undefined;
}
