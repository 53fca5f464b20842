/**
 * Every party that verifies a log, as a function of a data folder or of the log's responses: start-up, fsck,
 * the auditor with and without a pin, the watching auditor, the witness, `candor verify` and the verifier of
 * the console.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import { type AuditFlags, auditOnce } from '../../src/cli/audit.ts';
import { savePin } from '../../src/cli/pin-file.ts';
import type { Report } from '../../src/cli/report.ts';
import { prove } from '../../src/cli/verify.ts';
import { watch } from '../../src/cli/watch.ts';
import { type AuditResult, audit } from '../../src/client/auditor.ts';
import { fetchConsistency } from '../../src/client/consistency.ts';
import { auditEntries } from '../../src/client/entries.ts';
import { parseEvidence } from '../../src/client/evidence.ts';
import { AuditFault } from '../../src/client/fault.ts';
import type { LogSource } from '../../src/client/log-source.ts';
import { type Pin, writePin } from '../../src/client/pin.ts';
import { judge as judgeEvidence } from '../../src/client/verdict.ts';
import { parseBundle } from '../../src/client/verify.ts';
import { isSound, judge } from '../../src/console/pages/transparency/judged.ts';
import { nativeVerifier } from '../../src/crypto/ed25519.ts';
import { sha256 } from '../../src/crypto/sha256.ts';
import { fsck } from '../../src/ledger/check/fsck.ts';
import type { LedgerStatus } from '../../src/ledger/ledger.ts';
import { exitCodeOf, exitCodes } from '../../src/service/exit-codes.ts';
import { parseCheckpoint } from '../../src/tlog/checkpoint.ts';
import { parseNote, parseVerifierKey } from '../../src/tlog/note.ts';
import { requestCosignature } from '../../src/witness/ask.ts';
import { startWitnessServer } from '../../src/witness/server.ts';
import { Witness } from '../../src/witness/witness.ts';
import { WitnessState } from '../../src/witness/witness-state.ts';

/** Parses the rows of a table: one per line, with cells between bars. */
export const rowsOf = (table: string): string[][] =>
  table
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()));

/** Returns `ok` or the fault, then the codes of the findings in alphabetical order: `ok anchor_missing`. */
export function healthOf({ health, findings }: LedgerStatus): string {
  const state = health.state === 'ok' ? 'ok' : health.fault;
  return [state, ...findings.map(({ code }) => code).sort()].join(' ');
}

/** Returns the codes of the findings in alphabetical order, or `ok`; `no file` if the file is missing. */
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

/** Returns the pin of the first run of `candor audit`. */
export async function pinOf(log: LogSource): Promise<Pin> {
  const result = await audit(log, undefined, { now: Date.now() });
  if (result.status !== 'pinned') throw new Error(`expected a pin, got ${JSON.stringify(result)}`);
  return result.pin;
}

/** Runs `candor audit` on this log with this pin; with `entries`, as `--entries`. */
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
    const signed = { head: result.pin.head, keys: result.keys };
    const checked = await auditEntries(log, signed, { verify: nativeVerifier() });
    if (checked instanceof AuditFault) return { exit: exitCodeOf(checked), found: checked.code, evidence: undefined };
  }
  return { exit: exitCodes.ok, found: result.status, evidence: undefined };
}

/**
 * Returns the result of the command `candor audit`: the exit code, then the code of the fault or the status. Adds
 * `evidence` if the saved file alone proves misbehaviour, or `file` if the command saved a file that does not.
 */
export function commandOf(report: Report): string {
  const { exit, fault, fields } = report;
  const found = `${exit} ${fault?.code ?? String(fields.status)}`;
  if (typeof fields.evidence !== 'string') return found;
  const evidence = parseEvidence(readFileSync(fields.evidence, 'utf8'));
  if (evidence instanceof AuditFault) throw new Error(evidence.message);
  return judgeEvidence(evidence).convicts ? `${found} evidence` : `${found} file`;
}

/**
 * Runs the console's verifier on the bundle of one entry: every check passes, one fails, or there is no
 * response.
 */
export async function consoleOf(log: LogSource, leafIndex: number): Promise<string> {
  const text = await log.get(`/api/transparency/proof?leaf_index=${leafIndex}`);
  if (text instanceof AuditFault) return text.kind;
  const bundle = parseBundle(text);
  if (bundle instanceof AuditFault) return bundle.code;
  const { leaf, keys } = bundle;
  if (leaf.leafIndex !== leafIndex) return 'WRONG_LEAF';
  const judged = judge({ ...bundle, leafIndex: leaf.leafIndex, leaf }, keys);
  return isSound(judged) ? 'good' : 'broken';
}

/**
 * Imports a pin in the console, which then audits the log. Returns `verified`, or the code of the fault, with
 * `evidence` if the stored evidence alone proves misbehaviour, or `file` if it does not.
 */
export async function consolePinOf(url: string, pin: Pin): Promise<string> {
  vi.stubGlobal('location', { origin: url });
  const { importPin } = (await import(consolePin)) as ConsolePin;
  const found = await importPin(writePin(pin));
  if (found instanceof AuditFault) return found.code;
  const { kind, fault, evidence } = found;
  if (fault === undefined) return kind;
  if (evidence === undefined) return fault.code;
  return `${fault.code} ${(JSON.parse(evidence) as { convicts: boolean }).convicts ? 'evidence' : 'file'}`;
}

/** Path of a module that is compiled with the types of browsers, which are not available here. */
const consolePin = '../../src/console/state/pin.ts';
interface ConsolePin {
  importPin(text: string): Promise<AuditFault | { kind: string; fault?: AuditFault; evidence?: string }>;
}

/**
 * Runs `candor verify --url … --leaf-index …`, with this pin if there is one. Returns `verified`, or the code of
 * the fault; for a contradiction of the pin, the same as `commandOf`.
 */
export async function verifyOf(log: LogSource, leafIndex: number, pin?: Pin): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'candor-verify-'));
  try {
    const pinned = pin && { pin, file: join(folder, 'pin') };
    const proven = await prove(log, { leafIndex }, pinned, undefined);
    if (proven instanceof AuditFault) return proven.code;
    return 'exit' in proven ? commandOf(proven) : 'verified';
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the log served to a round of `candor audit --watch`. */
type Served = () => LogSource | Promise<LogSource>;

interface Watched {
  readonly reports: readonly Report[];
  /** Each report as `commandOf` returns it. */
  readonly found: readonly string[];
  /** Whether the watch ended with the last report. */
  readonly ended: boolean;
}

/** Runs `candor audit --watch` from this pin, with a poll for each round. */
export async function watchedOf(
  pin: Pin,
  rounds: readonly Served[],
  flags: Pick<AuditFlags, 'entries'> = {},
): Promise<Watched> {
  const folder = mkdtempSync(join(tmpdir(), 'candor-watch-'));
  const state = join(folder, 'pin');
  const reports: Report[] = [];
  const found: string[] = [];
  const over = new Error('every round was audited');
  const audit = async () => {
    const next = rounds[reports.length];
    if (next === undefined) throw over;
    reports.push(await auditOnce(await next(), { state, interval: 0, entries: false, ...flags }));
    found.push(commandOf(reports.at(-1)!));
    return reports.at(-1)!;
  };
  try {
    await savePin(state, pin, undefined);
    await watch(0, { audit, print: () => {} });
    return { reports, found, ended: true };
  } catch (error) {
    if (error !== over) throw error;
    return { reports, found, ended: false };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Runs `candor audit --watch`. In the second-to-last round, responses are manipulated without a key.
 * Returns `silent` if nothing is reported, or the code of the fault. A watcher must continue, and accept the
 * true log in the last round.
 */
export async function watchOf(pin: Pin, ...rounds: readonly Served[]): Promise<string> {
  const { reports, ended } = await watchedOf(pin, rounds);
  const [lie, truth] = reports.slice(-2);
  if (ended || truth!.fault !== undefined) throw new Error(`the watcher stopped: ${truth!.fault?.message}`);
  return lie!.fault?.code ?? (lie!.state === truth!.state ? 'silent' : lie!.state);
}

/**
 * Requests a cosignature of the served checkpoint and proof from a witness that cosigned the checkpoint
 * `before`. Returns `cosigned`, the reason for a rejection, or the code of the fault if the log serves
 * neither; with ` evidence` if the witness stores evidence.
 */
export async function witnessOf(log: LogSource, { vkey, before }: Cosigned): Promise<string> {
  const note = await log.get('/checkpoint');
  if (note instanceof AuditFault) return note.code;
  const folder = mkdtempSync(join(tmpdir(), 'candor-witness-'));
  const state = await WitnessState.open(folder, 'witness.example/w');
  const key = parseVerifierKey(sha256, vkey);
  let evidence = '';
  const witness = new Witness({
    state,
    logs: [key],
    now: Date.now,
    onContradiction: (found) => {
      evidence = found.evidence === undefined ? '' : ' evidence';
    },
  });
  const server = await startWitnessServer({ witness, host: '127.0.0.1', port: 0, onFailure: () => {} });
  const ask = (body: { oldSize: number; proof: readonly Uint8Array[]; note: string }) =>
    requestCosignature({
      ...{ url: server.url, key: state.key.public, request: body, text: parseNote(body.note).text },
      ...{ timeoutMs: 5000, signal: AbortSignal.timeout(5000), now: Date.now },
    });
  try {
    const first = await ask({ oldSize: 0, proof: [], note: before });
    if (first.kind !== 'cosigned')
      throw new Error(`the witness did not cosign the first checkpoint: ${JSON.stringify(first)}`);
    const [old, next] = [before, note].map((text) => parseCheckpoint(parseNote(text).text).size);
    const oldSize = Math.min(old!, next!);
    const proof = oldSize === next ? undefined : await fetchConsistency(log, oldSize, next!);
    if (proof instanceof AuditFault) return proof.code;
    const asked = await ask({ oldSize, proof: proof?.path ?? [], note });
    if (asked.kind === 'failed') return `${asked.failure}${evidence}`;
    return `${asked.kind === 'elsewhere' ? 'ahead' : asked.kind}${evidence}`;
  } finally {
    await server.close();
    state.release();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The key of a log, and a checkpoint of it that the witness cosigned. */
export interface Cosigned {
  readonly vkey: string;
  readonly before: string;
}

export async function cosignedOf(log: LogSource, ledger: { status(): Promise<LedgerStatus> }): Promise<Cosigned> {
  const before = await log.get('/checkpoint');
  if (before instanceof AuditFault) throw new Error(before.message);
  return { vkey: (await ledger.status()).checkpoint_vkey, before };
}
