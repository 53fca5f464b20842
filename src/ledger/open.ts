import { existsSync, statSync } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { freeBytesOf } from '../files/free-bytes.ts';
import { isDiskFull } from '../files/write-errors.ts';
import { limits } from '../limits.ts';
import { type ObservedAnchor, observeAnchor } from './anchor.ts';
import { missingRecords } from './check/external-heads.ts';
import { cutShort, inspectFile } from './check/inspect-file.ts';
import { ClockMemoryFile } from './clock-memory.ts';
import { corrupt, keysDamaged, keysLost, lost, orCorrupt, UntrustedLogError } from './distrust.ts';
import { DurableLedger, type LedgerOptions } from './durable-ledger.ts';
import { headJudge, milliseconds, verifyHead } from './heads.ts';
import { type HeadJudge, Journal, type JournalReading, noJournal } from './journal.ts';
import type { LifeStart } from './keys/key-file.ts';
import { KeyRing } from './keys/key-ring.ts';
import { finishKeyFiles } from './keys/key-takeover.ts';
import { openAgent } from './keys/open-agent.ts';
import { finishLifeKeys } from './keys/start-life.ts';
import type { LedgerHealth } from './ledger.ts';
import { checkInstance, instanceFile, recordInstance } from './lives/instance.ts';
import { StoreAge } from './lives/store-age.ts';
import { LogClock, type SteadyClock, systemSteadyClock } from './log-clock.ts';
import { OpenFindings } from './open-findings.ts';
import { raiseHeadFindings } from './start-findings.ts';
import { type Recovered, readableHead, recover } from './startup.ts';
import { LmdbStorage } from './storage/lmdb-store.ts';
import type { LedgerStorage } from './storage/storage.ts';

export type { DurableLedger, LedgerOptions };

/** Opens the log in a data folder, or begins one in an empty folder. */
export async function openLedger(options: LedgerOptions): Promise<DurableLedger> {
  const { dataDir, clock: wall = systemClock } = options;
  const logClock = new LogClock(wall, options.steady ?? steadyBeside(options.clock));
  const clock = () => logClock.now();
  const anchorPath = options.anchorPath ?? join(dataDir, 'anchor.json');
  const keysFolder = join(dataDir, 'keys');
  const journalPath = join(dataDir, 'journal.ndjson');
  const journal = new Journal(journalPath);
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const anchor = await observeAnchor(anchorPath);

  let storage: LedgerStorage | undefined;
  const keys = loadKeys(keysFolder);
  await keys.unlock(options.keyPassphrase);
  const findings = new OpenFindings(() => milliseconds(clock()));
  const agent = await openAgent(dataDir, options.agent, keys, (fault) => {
    if (fault === undefined) findings.clear('signer_unavailable');
    else findings.raise('signer_unavailable', fault);
  });
  const storeAge = new StoreAge(dataDir);
  let recovered: Recovered | undefined;
  let health: LedgerHealth = { state: 'ok' };
  let event: 'initialised' | 'start' = 'start';
  let [remembered, journalUnread] = [noJournal, undefined as string | undefined];
  const readJournal = async (judge: HeadJudge): Promise<void> => {
    try {
      remembered = await journal.read(judge);
    } catch (error) {
      journalUnread = error instanceof Error ? error.message : String(error);
      findings.raise('journal_unavailable', journalUnread);
    }
  };
  await readJournal(headJudge(keys));
  let lifeStart: LifeStart | undefined;
  let eventsLife: string | undefined;
  try {
    const begun = keys.all().some(({ file }) => file.svc_life_start?.reason === 'begun_anew');
    const found = await openStorage(options, anchorPath, anchor, begun);
    storage = found.storage;
    storage = options.hooks?.storage?.(storage) ?? storage;
    const detectCopies = options.detectCopies !== false;
    const { storage: opened } = found;
    const hasInstance = () => orCorrupt(() => opened.hasInstance);
    const isRecorded = !detectCopies || (await checkInstance(dataDir, hasInstance));
    if (keys.damaged.length > 0) throw keysDamaged(keys.damaged);
    if (found.cut) throw cutShort();
    const latest = readableHead(storage);
    lifeStart = await finishLifeKeys(keys, latest?.size ?? 0);
    await readJournal(headJudge(keys, latest && verifyHead(latest, keys) ? latest : undefined));
    if (storage.state !== 'ready') {
      // After a crash between these steps, the next start repeats them and keeps the existing keys.
      storage.setState('initialising');
      await keys.create(keys.missing(), milliseconds(clock()), options.origin);
      storage.setState('ready');
      event = 'initialised';
    }
    if (keys.lost.length > 0) throw keysLost(`The folder keys has no active key for ${keys.lost.join(', ')}`);
    await keys.create(keys.missing(), milliseconds(clock()), options.origin);
    const positions = await options.logPositions?.();
    eventsLife = positions?.life?.id;
    const { accepted } = storeAge;
    const external = { anchor, anchorPath, journal: remembered, positions, accepted };
    const log = recover(storage, keys, external, lifeStart);
    if (log.tree.size > 0 && lifeStart === undefined) {
      const records = {
        isAnchorMissing: anchor.kind === 'missing',
        journal: journalUnread === undefined ? remembered : undefined,
      };
      const paths = { anchor: anchorPath, journal: journalPath };
      for (const name of missingRecords(storage.latestHead()!, records))
        findings.raise(`${name}_missing`, missing(name, paths[name], log));
      const claimed = remembered.unsigned.largest;
      if (claimed > log.tree.size) findings.raise('journal_unsigned', unsignedClaim(claimed, log));
    }
    if (log.tree.size > 0 && positions?.unreadable !== undefined)
      findings.raise('places_unreadable', unreadablePositions(positions.unreadable, log));
    storeAge.compared(log.unknownToStore, log.tree.size);
    finishKeyFiles(keys);
    keys.rename(options.origin);
    raiseHeadFindings({ storage, keys, findings }, external);
    // After a crash between the two writes, the next start finds the file and records it.
    if (!isRecorded) await recordInstance(dataDir).catch(unlessDiskFull);
    const freeBytes = options.freeBytes ?? (() => freeBytesOf(dataDir));
    const isWritten = detectCopies && existsSync(join(dataDir, instanceFile));
    if (isWritten && !hasInstance() && freeBytes() >= limits.minFreeLedgerDiskBytes) storage.recordInstance();
    recovered = log;
  } catch (error) {
    if (!(error instanceof UntrustedLogError)) throw error;
    health = {
      state: 'degraded',
      fault: error.fault,
      advice: error.advice(signedLeaves(storage, anchor, remembered)),
    };
    // Keeps the rest of the service running without a log: users must be able to sign in and see what is wrong.
    keys.createEphemeralAccessKey(milliseconds(clock()));
  }
  if (storeAge.older !== undefined) findings.raise('store_older', olderStore(storeAge.older));
  const clockMemory = new ClockMemoryFile(dataDir);
  if (recovered !== undefined)
    logClock.start(storage?.latestHead()?.timestampNs, remembered.lastAt, clockMemory.read());
  const opened = {
    ...{ storage, keys, agent, recovered, health, journal, journalUnread, anchor, anchorPath, findings },
  };
  const parts = { ...opened, clock: logClock, clockMemory, storeAge, lifeStart, eventsLife, remembered };
  const ledger = new DurableLedger(options, { ...parts, warnings: warningsOf(remembered) });
  await ledger.begin(event);
  return ledger;
}

/** Ignores a full disk: the next start writes the file. */
function unlessDiskFull(error: unknown): void {
  if (!isDiskFull(error)) throw error;
}

/** Opens ledger.mdb. @throws UntrustedLogError if it is missing and the folder shows that there was a log */
async function openStorage(
  { dataDir }: LedgerOptions,
  anchorPath: string,
  anchor: ObservedAnchor,
  isNewLog: boolean,
): Promise<{ readonly storage: LedgerStorage; readonly cut: boolean }> {
  const path = join(dataDir, 'ledger.mdb');
  const traces = isNewLog ? [] : await tracesOfLog(dataDir, anchorPath);
  const isThere = hasContent(path);
  if (!isThere && traces.length > 0) throw lost(traces);
  // A mistyped path, or a volume that is not mounted yet, must not begin a log without its anchor.
  if (!isThere && anchor.kind === 'unavailable') throw new Error(anchor.why);
  const { cut } = isThere ? inspectFile(path) : { cut: false };
  const storage = openFile(path);
  if (orCorrupt(() => storage.state) === 'new' && traces.length > 0) {
    await storage.close();
    throw lost(traces);
  }
  return { storage, cut };
}

function loadKeys(folder: string): KeyRing {
  try {
    return KeyRing.load(folder);
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw error;
    throw new Error(`the keys in ${folder} cannot be read (${code})`);
  }
}

function olderStore(why: string): string {
  return (
    `siem.mdb is an older copy (${why}): events, alerts and identity changes since then are lost. Stop the service and ` +
    'put the newer file back, or restore a backup, or continue with this copy: `candor rebuild --accept-older-store`'
  );
}

/** Returns the message of the finding about a missing file that would reveal a rollback. */
function missing(name: string, path: string, { tree }: Recovered): string {
  return (
    `the ${name} ${path} was missing or empty at the last start, and a new file is written: compare the log (${tree.size} leaves) ` +
    'with what auditors have recorded'
  );
}

/**
 * Returns the message of a finding: without the positions of alerts, receipts and sealed events, a rollback may go
 * unnoticed.
 */
function unreadablePositions(why: string, { tree }: Recovered): string {
  return (
    `${why}, so the log was not compared with the alerts, receipts and sealed events that it must contain: compare the log ` +
    `(${tree.size} leaves) with what auditors have recorded, and put siem.mdb back from a backup`
  );
}

/**
 * Returns the message about an unsigned claim, which proves nothing: any process with write access to the journal can
 * claim any size.
 */
function unsignedClaim(claimed: number, { tree }: Recovered): string {
  return (
    `the journal has a head of ${claimed} leaves that no key of this log signed, and the log has ${tree.size}: find out who ` +
    'changed the journal, and ask the auditors for the largest head that they hold'
  );
}

/** Returns warnings for the operator that do not affect the log. */
function warningsOf({ unsigned }: JournalReading): string[] {
  if (unsigned.count === 0) return [];
  const { line, size } = unsigned.lines.at(-1)!;
  return [
    `the journal has ${unsigned.count} heads that no key of this log signed, the last in line ${line} (${size} leaves): ` +
      'run `candor fsck`',
  ];
}

function openFile(path: string): LmdbStorage {
  try {
    return new LmdbStorage(path);
  } catch (error) {
    if (isSystemError(error)) throw error; // a system error, such as a missing permission or a full volume, is not damage
    throw corrupt(`ledger.mdb cannot be opened (${error instanceof Error ? error.message : String(error)})`);
  }
}

/**
 * Returns whether the error comes from the system. Node's errors name the system call; LMDB's errors have the system's
 * error number, or a negative number of LMDB.
 */
function isSystemError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  return 'syscall' in error || (typeof code === 'number' && code > 0);
}

async function tracesOfLog(dataDir: string, anchorPath: string): Promise<string[]> {
  const names = ['journal.ndjson', 'siem.mdb'].filter((name) => existsSync(join(dataDir, name)));
  if (existsSync(anchorPath)) names.unshift('an anchor');
  const keys = await readdir(join(dataDir, 'keys')).catch(() => []);
  return keys.some((name) => name.endsWith('.json')) ? [...names, 'keys'] : names;
}

/** Returns the size of the largest head in database, anchor and journal, for the advice; 0 if no head is readable. */
function signedLeaves(storage: LedgerStorage | undefined, anchor: ObservedAnchor, journal: JournalReading): number {
  const sizes = [readableHead(storage)?.size, anchor.kind === 'head' ? anchor.head.size : 0, journal.largest?.size];
  return Math.max(...sizes.map((size) => size ?? 0));
}

function hasContent(path: string): boolean {
  return existsSync(path) && (statSync(path).isDirectory() || statSync(path).size > 0);
}

function steadyBeside(clock: LedgerOptions['clock']): SteadyClock {
  if (clock === undefined) return systemSteadyClock;
  const ms = () => milliseconds(clock());
  return { runningMs: ms, bootMs: ms };
}

function systemClock(): bigint {
  return BigInt(Date.now()) * 1_000_000n;
}
