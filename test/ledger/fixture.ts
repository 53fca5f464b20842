import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { PublicJwk } from '../../src/ledger/ledger.ts';
import { type DurableLedger, type LedgerOptions, openLedger } from '../../src/ledger/open.ts';

export { entries, entry } from './fixture-entry.ts';

/** Creates an empty data folder, removed after the test. */
export function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'candor-ledger-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Opens a ledger that is closed after the test. A fatal error fails the test unless `onFatal` is given. */
export async function open(dataDir: string, options: Partial<LedgerOptions> = {}): Promise<DurableLedger> {
  const ledger = await openLedger({ dataDir, ...options });
  onTestFinished(() => ledger.close());
  return ledger;
}

export function rawKey(jwks: readonly PublicJwk[], kid: string): Uint8Array {
  const jwk = jwks.find((key) => key.kid === kid);
  if (jwk === undefined) throw new Error(`no key ${kid}`);
  return new Uint8Array(Buffer.from(String(jwk.x), 'base64url'));
}

/** Returns the code of a failure. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return 'none';
  } catch (error) {
    return String((error as { code?: unknown }).code);
  }
}

/** Returns the field named by INVALID_REQUEST. */
export async function fieldOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
    return undefined;
  } catch (error) {
    const { code, details } = error as { code?: string; details?: { field?: string } };
    return code === 'INVALID_REQUEST' ? details?.field : code;
  }
}
