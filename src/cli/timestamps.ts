import type { TimestampClaim, VerifiedProofs } from '../client/bundle-proofs.ts';
import { AuditFault, unwrap } from '../client/fault.ts';
import { sha256 } from '../client/sha256.ts';
import { CommandError } from '../service/exit-codes.ts';
import type { VerifiedToken } from '../timestamps/token.ts';
import { type Field, shownTime } from './output.ts';

/** Tolerated difference between the clocks of two authorities. */
const clockSkewMs = 60_000;

interface Bound {
  readonly claim: TimestampClaim;
  readonly token: VerifiedToken;
}

/**
 * Determines the interval in which the entry was logged, from the tokens of a bundle. `pem` holds
 * certificates that the caller trusts; without it, tokens are verified under their embedded certificates.
 *
 * @throws AuditFault
 */
export async function bracketOf(
  { notBefore, notAfter }: VerifiedProofs,
  pem: string | undefined,
): Promise<{ lines: string[]; fields: Record<string, Field> }> {
  const all = [...notBefore, ...notAfter];
  if (all.length === 0) {
    if (pem === undefined) return { lines: [], fields: {} };
    throw new AuditFault('UNTRUSTED_TIMESTAMP', 'the bundle has no timestamps, but --tsa-ca requires one');
  }
  const verify = await timestampVerifier(pem);
  const before = verifyAll(notBefore, verify);
  const after = verifyAll(notAfter, verify);
  if (before.length + after.length === 0)
    throw new AuditFault('UNTRUSTED_TIMESTAMP', `no certificate in --tsa-ca verifies timestamps of ${namesOf(all)}`);
  const lower = best(before, ({ genTimeMs, accuracyMs }) => genTimeMs - accuracyMs);
  const upper = best(after, ({ genTimeMs, accuracyMs }) => -(genTimeMs + accuracyMs));
  if (lower && upper && earliest(lower) - latest(upper) > clockSkewMs)
    throw new AuditFault(
      'BAD_TIMESTAMP',
      `logged after ${shownTime(earliest(lower))} and before ${shownTime(latest(upper))}: the clocks of the authorities disagree`,
    );
  const ignored = all.length - before.length - after.length;
  const { nameOf } = await import('../timestamps/certificates.ts');
  const by = ({ claim, token }: Bound) => `timestamp of ${claim.authority}, ${nameOf(token.certificate)}`;
  return {
    lines: [
      `logged after ${lower ? `${shownTime(earliest(lower))} (${by(lower)})` : 'unknown: no timestamp precedes the entry'}`,
      `and before   ${upper ? `${shownTime(latest(upper))} (${by(upper)})` : 'now: no timestamp covers the entry yet'}`,
      ...(ignored > 0 ? [`Timestamps ignored, because no certificate in --tsa-ca verifies them: ${ignored}.`] : []),
      ...(pem === undefined ? ['The authorities are not verified: pass trusted certificates with --tsa-ca.'] : []),
    ],
    fields: {
      logged_after: lower && shownTime(earliest(lower)),
      logged_before: upper && shownTime(latest(upper)),
      timestamps_trusted: pem !== undefined,
    },
  };
}

type Verifier = (claim: TimestampClaim) => VerifiedToken | AuditFault | 'untrusted';

/** Returns a verifier of timestamps. The ASN.1 and X.509 modules are loaded only if there is a token to verify. */
export async function timestampVerifier(pem: string | undefined): Promise<Verifier> {
  const { verifyToken } = await import('../timestamps/token.ts');
  const { parseCertificates } = await import('../timestamps/certificates.ts');
  const { TimestampError } = await import('../timestamps/timestamp-error.ts');
  const trusted = pem === undefined ? undefined : certificatesOf(parseCertificates, pem);
  return ({ authority, checkpoint, token }) => {
    try {
      return verifyToken(token, { sha256: sha256(new TextEncoder().encode(checkpoint)) }, trusted);
    } catch (error) {
      if (!(error instanceof TimestampError)) throw error;
      return error.fault === 'untrusted'
        ? 'untrusted'
        : new AuditFault('BAD_TIMESTAMP', `${authority}: ${error.message}`);
    }
  };
}

function certificatesOf<T>(parse: (pem: string) => T, pem: string): T {
  try {
    return parse(pem);
  } catch (error) {
    throw new CommandError(`--tsa-ca: ${(error as Error).message}; pass a PEM file of certificates`);
  }
}

/** Returns the tokens that verify under a trusted certificate. */
function verifyAll(claims: readonly TimestampClaim[], verify: Verifier): Bound[] {
  return claims.flatMap((claim) => {
    const token = unwrap(verify(claim));
    return token === 'untrusted' ? [] : [{ claim, token }];
  });
}

/** Returns the bound with the highest rank; undefined without bounds. */
function best(bounds: readonly Bound[], rank: (token: VerifiedToken) => number): Bound | undefined {
  return bounds.toSorted((a, b) => rank(b.token) - rank(a.token))[0];
}

const earliest = ({ token }: Bound) => token.genTimeMs - token.accuracyMs;
const latest = ({ token }: Bound) => token.genTimeMs + token.accuracyMs;
const namesOf = (claims: readonly TimestampClaim[]) =>
  [...new Set(claims.map(({ authority }) => authority))].join(', ');
