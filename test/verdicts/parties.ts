/** Everyone who judges a log, as functions of a folder or of its answers: start-up, fsck, the auditor. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { exitCodeOf, exitCodes } from '../../src/cli/exit-codes.ts';
import { type AuditResult, audit } from '../../src/client/auditor.ts';
import { auditEntries } from '../../src/client/entries.ts';
import { Fault } from '../../src/client/fault.ts';
import { fetchHead } from '../../src/client/latest.ts';
import type { LogSource } from '../../src/client/log-source.ts';
import type { Pin } from '../../src/client/pin.ts';
import { proveEntry } from '../../src/client/proven-entry.ts';
import { parseBundle } from '../../src/client/verify.ts';
import { isSound, judge } from '../../src/console/pages/transparency/judged.ts';
import { fsck } from '../../src/ledger/check/fsck.ts';
import type { LedgerStatus } from '../../src/ledger/ledger.ts';

/** `ok`, or the fault, then the codes of the findings in alphabetical order: `ok anchor_missing`. */
export function healthOf({ health, findings }: LedgerStatus): string {
  const state = health.state === 'ok' ? 'ok' : health.fault;
  return [state, ...findings.map(({ code }) => code).sort()].join(' ');
}

/** The codes of the findings in alphabetical order, or `ok`; `no file` where there is nothing to check. */
export async function fsckOf(dataDir: string): Promise<string> {
  if (!existsSync(join(dataDir, 'ledger.mdb'))) return 'no file';
  const { counts } = await fsck({ dataDir, signatures: true, threads: 1 });
  return Object.keys(counts).sort().join(' ') || 'ok';
}

export interface Audited {
  /** The exit code of `candor audit`. */
  readonly exit: number;
  /** The code of the fault, or the status of the audit. */
  readonly found: string;
  readonly evidence: string | undefined;
}

/** What the first run of `candor audit` keeps. */
export async function pinOf(log: LogSource): Promise<Pin> {
  const result = await audit(log, undefined, { now: Date.now() });
  if (result.status !== 'pinned') throw new Error(`wanted a pin, came ${JSON.stringify(result)}`);
  return result.pin;
}

/** `candor audit` of this log with this pin; with `entries`, as `--entries`. */
export async function auditOf(
  log: LogSource,
  pin: Pin | undefined,
  { entries = false, now = Date.now() } = {},
): Promise<Audited> {
  const result: AuditResult = await audit(log, pin, { now });
  if (result.status === 'fault') {
    const { fault, evidence } = result;
    return { exit: exitCodeOf(fault), found: fault.code, evidence };
  }
  if (entries && result.status !== 'empty') {
    const checked = await auditEntries(log, { head: result.pin.head, keys: result.keys });
    if (checked instanceof Fault)
      return { exit: exitCodeOf(checked), found: checked.code, evidence: undefined };
  }
  return { exit: exitCodes.ok, found: result.status, evidence: undefined };
}

/** The console's verifier on the bundle of one entry: every check good, one broken, or no answer. */
export async function consoleOf(log: LogSource, leafIndex: number): Promise<string> {
  const text = await log.get(`/api/transparency/proof?leaf_index=${leafIndex}`);
  if (text instanceof Fault) return text.kind;
  const bundle = parseBundle(text);
  if (bundle instanceof Fault) return bundle.code;
  const { leaf, keys } = bundle;
  if (leaf.leafIndex !== leafIndex) return 'WRONG_LEAF';
  const judged = judge({ ...bundle, leafIndex: leaf.leafIndex, leaf }, keys);
  return isSound(judged) ? 'good' : 'broken';
}

/** `candor verify <url> --leaf-index …` with this pin: `verified`, or the code of the fault. */
export async function verifyOf(log: LogSource, leafIndex: number): Promise<string> {
  const signed = await fetchHead(log);
  if (signed instanceof Fault) return signed.code;
  const proven = await proveEntry(log, { leafIndex }, signed);
  return proven instanceof Fault ? proven.code : 'verified';
}
