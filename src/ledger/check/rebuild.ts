import { existsSync } from 'node:fs';
import { copyFile, link, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { flushFolder } from '../../files/durable-file.ts';
import { readAnchor } from '../anchor.ts';
import type { LedgerOptions } from '../durable-ledger.ts';
import { milliseconds, offlineJudge, toJson } from '../heads.ts';
import { Journal } from '../journal.ts';
import { KeyRing } from '../keys/key-ring.ts';
import { openAgent } from '../keys/open-agent.ts';
import { startLife } from '../keys/start-life.ts';
import { lifeStartOf, openAndClose } from '../lives/continue-copy.ts';
import { recordInstance } from '../lives/instance.ts';
import { newestPosition } from '../lives/log-positions.ts';
import { LmdbStorage } from '../storage/lmdb-store.ts';
import type { SignedHead } from '../storage/storage.ts';
import { DatabaseFile } from './database-file.ts';
import { wholePieceBytes } from './file-pieces.ts';
import { type FindingCode, isDamage } from './findings.ts';
import { type FsckProgress, type FsckReport, fsck } from './fsck.ts';
import { PartWriter, partEntries } from './part-writer.ts';
import { Salvage, type Salvaged } from './salvage.ts';

/** Maximum lost entries that are listed by id. */
const maxNamed = 1000;

export interface RebuildOptions
  extends Pick<
    LedgerOptions,
    'dataDir' | 'anchorPath' | 'keyPassphrase' | 'agent' | 'origin' | 'logPositions' | 'clock' | 'hooks'
  > {
  /**
   * Signed heads from outside the folder, such as an auditor's pin, which may cover more than the heads in the folder.
   */
  readonly heads?: readonly SignedHead[];
  /** Whether to continue although signed leaves are missing. */
  readonly acceptLoss?: boolean;
  /** Whether to only report the planned changes. */
  readonly dryRun?: boolean;
  /**
   * Maximum signed heads outside the table that are kept in memory. Default: the constant `maxStrayHeads`.
   */
  readonly maxStrayHeads?: number;
  onProgress?(progress: RebuildProgress): void;
  /** Called before each step that changes the state on disk, so that tests can stop there. */
  onStep?(step: RebuildStep): void;
}

/** The current step and its progress. */
export interface RebuildProgress extends FsckProgress {
  readonly step: 'check' | 'read' | 'write' | 'verify';
}

export type RebuildStep = 'written' | 'verified' | 'old-kept' | 'swapped' | 'life-begun' | 'life-logged';

/**
 * `whole`: the file was intact. `rebuilt`: the file was rewritten. `accepted`: the file is intact but lacks signed
 * entries, and the log continues from it. `refused`: signed leaves would be missing, and `acceptLoss` was not set.
 * `hopeless`: no signed head matches the entries. `planned`: a dry run of a rebuild.
 */
export type RebuildOutcome = 'whole' | 'rebuilt' | 'accepted' | 'refused' | 'hopeless' | 'planned';

export interface RebuildReport {
  readonly outcome: RebuildOutcome;
  /** The findings before the rebuild. */
  readonly found: FsckReport;
  /** The last head of the log afterwards. */
  readonly head: SignedHead | undefined;
  /** The largest head known to have been signed. */
  readonly previous: SignedHead | undefined;
  readonly lost: {
    /** Index of the first lost entry. */
    readonly from: number;
    /** Index after the last lost entry. */
    readonly to: number;
    /** Reason why the recovered log ends at `from`; undefined if no signed head covers more. */
    readonly why: string | undefined;
    /** Known ids of the first thousand lost entries, by index. */
    readonly ids: ReadonlyMap<number, string>;
    /** Dropped signed heads, which auditors may hold: the first hundred, by size. */
    readonly heads: readonly SignedHead[];
    /** Total number of dropped signed heads. */
    readonly headCount: number;
    /**
     * Lower bound for the count of smaller signed heads that are in no table of the file and exceeded the memory limit.
     * The history loses these heads; a larger head has the same proofs.
     */
    readonly overlookedHeads: number;
  };
  /** Path to which the damaged file was moved. */
  readonly kept: string | undefined;
}

/**
 * Rewrites ledger.mdb from its readable content: the longest prefix of the log that a signed head covers, with
 * everything derived from it. The new file is written beside the old one, flushed and checked by `fsck`. Then the old
 * file gets another name, and the new file replaces it in one step. A crash at any point therefore leaves either the
 * old or the new file intact. Another run continues an interrupted one.
 *
 * If everything signed is recovered, nothing else happens. Otherwise, with `acceptLoss`, the log continues as a new
 * life. It gets new keys and a new origin, so that its statements cannot contradict earlier statements, and an entry
 * that names the largest head of the old life. The old anchor is kept. The keys change before the file does, so that no
 * later start can sign with the old keys.
 *
 * The caller holds the lock of the folder. Memory does not depend on the size of the log or the number of signed heads,
 * with two exceptions. If entries are missing, 12 bytes per leaf of the log are needed. Signed heads that exist only in
 * pages outside the table take 200 bytes each; their number is limited (stray-heads.ts).
 */
export async function rebuild(options: RebuildOptions): Promise<RebuildReport> {
  const { dataDir, anchorPath = join(dataDir, 'anchor.json'), onProgress, heads = [] } = options;
  const path = join(dataDir, 'ledger.mdb');
  const positions = await options.logPositions?.();
  const found = await fsck({
    ...{ dataDir, anchorPath },
    ...(positions === undefined ? {} : { positions }),
    onProgress: (progress) => onProgress?.({ step: 'check', ...progress }),
  });
  const keys = KeyRing.load(join(dataDir, 'keys'));
  const elsewhere = [...(await witnessed(dataDir, anchorPath, keys)), ...heads.filter(offlineJudge(keys).isCurrent)];
  const { keys_ahead = 0, store_ahead = 0 } = found.counts;
  const isOlder = !found.isDamaged && keys_ahead + store_ahead > 0;
  const newest = isOlder ? Math.max(newestPosition(positions), keys.recordedSize - 1) : undefined;
  const file = new DatabaseFile(path, { isRescue: true, isDirect: true, pieceBytes: wholePieceBytes });
  try {
    const salvage = new Salvage(file, keys, elsewhere, options.maxStrayHeads);
    const saved = await salvage.run((progress) => onProgress?.({ step: 'read', ...progress }));
    const plan = new Plan(options, found, salvage, saved, newest);
    return await plan.carryOut(path, anchorPath);
  } finally {
    file.close();
  }
}

/** Returns heads of the current life in anchor and journal. The signature of the anchor's head is not verified. */
async function witnessed(dataDir: string, anchorPath: string, keys: KeyRing): Promise<SignedHead[]> {
  const judge = offlineJudge(keys);
  const anchor = await readAnchor(anchorPath).catch(() => undefined);
  const journal = await new Journal(join(dataDir, 'journal.ndjson')).read(judge).catch(() => undefined);
  const anchored = anchor?.kind === 'head' && judge.isCurrent(anchor.head) ? [anchor.head] : [];
  return [...(journal?.heads ?? []), ...anchored];
}

class Plan {
  readonly #options: RebuildOptions;
  readonly #found: FsckReport;
  readonly #salvage: Salvage;
  readonly #saved: Salvaged;
  readonly #stamp: string;
  /** The highest leaf recorded by the event database and the key files, if the log contradicts them. */
  readonly #newestPosition: number | undefined;

  constructor(
    options: RebuildOptions,
    found: FsckReport,
    salvage: Salvage,
    saved: Salvaged,
    newestPosition: number | undefined,
  ) {
    this.#options = options;
    this.#newestPosition = newestPosition;
    this.#found = found;
    this.#salvage = salvage;
    this.#saved = saved;
    this.#stamp = this.#now.toISOString().replaceAll(/[:.]/g, '-');
  }

  async carryOut(path: string, anchorPath: string): Promise<RebuildReport> {
    const { dryRun = false, acceptLoss = false } = this.#options;
    const { head } = this.#saved;
    const isEmptyLog = this.#largest === undefined && this.#saved.known === 0;
    if (!this.#found.isDamaged && !this.#isLoss) return this.#report('whole');
    if (head === undefined && !isEmptyLog) return this.#report('hopeless');
    if (dryRun) return this.#report('planned');
    if (this.#isLoss && !acceptLoss) return this.#report('refused');
    if (this.#isLoss) await this.#changeKeys(anchorPath);
    const kept = this.#found.isDamaged ? await this.#replace(path) : undefined;
    if (this.#isLoss) await this.#beginLife();
    return this.#report(kept === undefined ? 'accepted' : 'rebuilt', kept);
  }

  get #isLoss(): boolean {
    return this.#saved.dropped.count > 0 || this.#newestPosition !== undefined;
  }

  get #now(): Date {
    const { clock } = this.#options;
    return clock === undefined ? new Date() : new Date(milliseconds(clock()));
  }

  get #largest(): SignedHead | undefined {
    const { head, dropped } = this.#saved;
    return head !== undefined && head.size > (dropped.largest?.size ?? -1) ? head : dropped.largest;
  }

  #step(step: RebuildStep): void {
    this.#options.onStep?.(step);
  }

  /** Replaces the file with a rebuilt file. Returns the new name of the old file. */
  async #replace(path: string): Promise<string> {
    const beside = `${path}.rebuilding`;
    await rm(beside, { force: true }); // left by an interrupted run
    await rm(`${beside}-lock`, { force: true });
    await this.#write(beside);
    this.#step('written');
    await this.#verify(beside);
    this.#step('verified');
    const kept = `${path}.damaged-${this.#stamp}`;
    await keepUnder(path, kept);
    this.#step('old-kept');
    await rename(beside, path);
    await flushFolder(dirname(path));
    this.#step('swapped');
    await rm(`${path}-lock`, { force: true }); // LMDB's table of readers for the old file
    await rm(`${beside}-lock`, { force: true });
    return kept;
  }

  async #write(path: string): Promise<void> {
    const { head } = this.#saved;
    const storage = new LmdbStorage(path);
    try {
      const size = head?.size ?? 0;
      const writer = new PartWriter(storage);
      const kept = this.#saved.kept();
      writer.addHeads(kept);
      for (const bytes of this.#salvage.entries(size)) {
        writer.add(bytes);
        writer.addHeads(kept);
        if (writer.size % partEntries === 0)
          this.#options.onProgress?.({ step: 'write', leaves: writer.size, total: size });
      }
      writer.end();
      storage.complete();
      const checkpoint = this.#salvage.checkpoint;
      if (checkpoint !== undefined && sizeOf(checkpoint) <= size) storage.keepCheckpoint(checkpoint);
      if (this.#salvage.hasInstance) storage.recordInstance();
      storage.setState('ready');
    } finally {
      await storage.close();
    }
  }

  async #verify(path: string): Promise<void> {
    const { dataDir, anchorPath, onProgress } = this.#options;
    const report = await fsck({
      ...{ dataDir, ledgerPath: path },
      ...(anchorPath === undefined ? {} : { anchorPath }),
      onProgress: (progress) => onProgress?.({ step: 'verify', ...progress }),
    });
    // A head that is in no page and no other file cannot be recovered; fsck continues to report it.
    const { head_missing: _lost, ...counts } = report.counts;
    if (isDamage(Object.keys(counts) as FindingCode[]))
      throw new Error(`the rebuilt file is damaged (${report.findings.map(({ message }) => message).join('; ')})`);
  }

  /** Changes the keys. From here on, the log is in its new life. The next start at the latest logs the new life. */
  async #changeKeys(anchorPath: string): Promise<void> {
    const { dataDir, keyPassphrase, origin } = this.#options;
    if (existsSync(anchorPath)) await copyFile(anchorPath, `${anchorPath}.replaced-${this.#stamp}`);
    const keys = KeyRing.load(join(dataDir, 'keys'));
    await keys.unlock(keyPassphrase);
    const agent = await openAgent(dataDir, this.#options.agent, keys, () => undefined);
    const head = this.#largest;
    const previous =
      keys.origin === undefined ? {} : { previous: { origin: keys.origin, ...(head && { head: toJson(head) }) } };
    const start = lifeStartOf('loss_accepted', this.#options, previous);
    await startLife(keys, { start, origin, fromSize: this.#saved.head?.size ?? 0 });
    await agent?.close();
    this.#step('life-begun');
  }

  async #beginLife(): Promise<void> {
    await recordInstance(this.#options.dataDir);
    const { health } = await openAndClose(this.#options);
    if (health.state === 'degraded') throw new Error(`the recovered log is degraded: ${health.advice}`);
    this.#step('life-logged');
  }

  #report(outcome: RebuildOutcome, kept?: string): RebuildReport {
    const { head, dropped, overlooked, known, stoppedAt } = this.#saved;
    const from = head?.size ?? 0;
    const lost = {
      from,
      to: Math.max(known, (this.#newestPosition ?? -1) + 1),
      why: stoppedAt && `entry ${stoppedAt.index} ${stoppedAt.why}`,
      ids: this.#salvage.idsOf(from, known, maxNamed),
      heads: dropped.first,
      headCount: dropped.count,
      overlookedHeads: overlooked,
    };
    return { outcome, found: this.#found, head, previous: this.#largest, lost, kept };
  }
}

/** Adds another name for the file without removing the current name, so that the path always exists. */
async function keepUnder(path: string, name: string): Promise<void> {
  try {
    await link(path, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
    await copyFile(path, name); // for a file system without hard links
    const copy = await open(name, 'r+');
    await copy.sync().finally(() => copy.close());
  }
  await flushFolder(dirname(path));
}

/** Returns the number of leaves that a checkpoint covers, from its second line. */
function sizeOf(checkpoint: string): number {
  return Number(checkpoint.split('\n')[1] ?? Number.POSITIVE_INFINITY);
}
