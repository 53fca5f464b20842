import type { Logger } from 'pino';
import type { WitnessStatus } from '../contract/resources/status.ts';
import { type ErrorCode, ServiceError } from '../errors.ts';
import type { Ledger, LedgerFinding } from '../ledger/ledger.ts';
import { limits } from '../limits.ts';
import { sha256 } from '../sha256.ts';
import { TlogError } from '../tlog/fault.ts';
import { hexToBytes } from '../tlog/hex.ts';
import { formatVerifierKey, parseVerifierKey, type VerifierKey } from '../tlog/note.ts';
import { inclusionPlan, verifyConsistency } from '../tlog/proof.ts';
import { equalHashes, type Hash, hashBytes } from '../tlog/tree.ts';
import { AskedWitness, type Failure, type RollbackReport } from './asked-witness.ts';
import { Candidate } from './candidate.ts';
import { isQuorum, type Policy, type PolicyWitness } from './policy.ts';
import { verifyNative } from './verify.ts';

export interface CosignerOptions {
  readonly ledger: Pick<
    Ledger,
    'checkpoint' | 'consistency' | 'inclusion' | 'keepCheckpoint' | 'keptCheckpoint' | 'status'
  >;
  readonly policy: Policy;
  /** How long a new checkpoint waits for its quorum, before `fail` and before a newer one may take its place. */
  readonly waitMs: number;
  /** At most so often a new checkpoint is put before the witnesses; how often the log is looked at. */
  readonly intervalMs: number;
  /** What happens without a quorum: `open` publishes all the same, `closed` keeps what was published before. */
  readonly fail: 'open' | 'closed';
  /** Of one request to a witness. */
  readonly requestTimeoutMs?: number;
  readonly log: Pick<Logger, 'warn' | 'error'>;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** What `/checkpoint` serves, and what of it is on disk. */
interface Published {
  readonly candidate: Candidate;
  readonly note: string;
  /** Of the candidate, when the note was made. */
  readonly version: number;
}

/**
 * Gets the checkpoints of the log cosigned by the witnesses of a policy (C2SP tlog-witness), and publishes them.
 *
 *     log grows ──▶ candidate ──▶ every witness, at once ──▶ quorum, or `open` and waited ──▶ kept on disk ──▶ published
 *                       ▲                │ later ones are added
 *                       └── next, once this one is published or has waited
 *
 * Promises: what is published was kept before, never gets smaller, and always extends what was published before, over
 * restarts too. Witnesses don't wait for each other. Appends don't wait for any of this.
 */
export class Cosigner {
  readonly #options: CosignerOptions;
  #logKey: VerifierKey;
  readonly #witnesses: readonly AskedWitness[];
  readonly #stop = new AbortController();
  readonly #underWay = new Set<Promise<unknown>>();
  #candidate: Candidate | undefined;
  #published: Published | undefined;
  /** What was published last, whether or not it may be served under the policy of now. */
  #last: Candidate | undefined;
  /** What may not be published, because it does not extend that. */
  #refused: Candidate | undefined;
  /** That the log went back behind what was published last. */
  #rollback: RollbackReport | undefined;
  #publishing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** What was logged last, while it lasts. */
  #trouble = '';

  private constructor(options: CosignerOptions, logKey: VerifierKey) {
    this.#options = options;
    this.#logKey = logKey;
    const around = {
      consistency: (first: number, second: number) => this.#proof(first, second),
      firstRoot: (first: number, second: number) => this.#firstRoot(first, second),
      now: options.now,
      timeoutMs: options.requestTimeoutMs ?? Math.max(options.waitMs, limits.witnessRequestTimeoutMs),
      signal: this.#stop.signal,
      onFailure: (witness: PolicyWitness, failure: Failure, news: boolean) =>
        this.#reportFailure(witness, failure, news),
    };
    this.#witnesses = options.policy.witnesses.flatMap((witness) =>
      witness.url === undefined ? [] : [new AskedWitness(witness, witness.url, around)],
    );
  }

  /** Takes up what was kept, and begins. The log must have a checkpoint key; that it is degraded is no obstacle. */
  static async start(options: CosignerOptions): Promise<Cosigner> {
    const { ledger, policy, log } = options;
    const logKey = parseVerifierKey(sha256, (await ledger.status()).checkpoint_vkey);
    const isListed = policy.logs.some(({ key }) => equalHashes(key.publicKey, logKey.publicKey));
    if (policy.logs.length > 0 && !isListed) {
      log.warn({ vkey: formatVerifierKey(logKey) }, 'the policy of witnesses lists logs, and not this one');
    }
    const cosigner = new Cosigner(options, logKey);
    cosigner.#resume(await unless('UNAVAILABLE', ledger.keptCheckpoint()));
    cosigner.#look();
    return cosigner;
  }

  /**
   * The checkpoint to be served, as a note. LOG_EMPTY before the first entry; UNAVAILABLE while there is none that
   * may be published.
   */
  async checkpoint(): Promise<string> {
    if (this.#published !== undefined) return this.#published.note;
    await this.#options.ledger.checkpoint();
    throw new ServiceError('UNAVAILABLE', 'no checkpoint has its quorum of witnesses yet', {
      reason: 'no_quorum',
    });
  }

  status(): WitnessStatus {
    const { policy, now } = this.#options;
    const published = this.#published?.candidate;
    return {
      quorum: published?.hasQuorum(policy) ?? false,
      ...(published === undefined
        ? {}
        : { published_size: published.size, published_age_s: Math.max(0, now() - published.since) / 1000 }),
      ...(this.#candidate === undefined ? {} : { candidate_size: this.#candidate.size }),
      witnesses: this.#witnesses.map((asked) => ({
        name: asked.witness.name,
        key_name: asked.witness.key.name,
        vkey: formatVerifierKey(asked.witness.key),
        ...(asked.size === undefined ? {} : { size: asked.size }),
        ...(asked.failing === undefined ? {} : { failing: asked.failing }),
        ...(asked.rollback === undefined
          ? {}
          : { rollback_since: new Date(asked.rollback.since).toISOString() }),
        cosignatures: asked.cosignatures,
        failures: [...asked.failures].map(([kind, times]) => ({ kind, times })),
      })),
    };
  }

  /** `witness_rollback`, while a witness or the checkpoint that was published last shows a log that went back. */
  findings(): LedgerFinding[] {
    const reports = this.#witnesses.flatMap(({ witness, rollback }) =>
      rollback === undefined ? [] : [{ ...rollback, message: `witness ${witness.name} ${rollback.message}` }],
    );
    if (this.#rollback !== undefined) reports.push(this.#rollback);
    if (reports.length === 0) return [];
    const since = new Date(Math.min(...reports.map((report) => report.since))).toISOString();
    const message = `${reports.map((report) => report.message).join('; ')}. Compare the log with its backups and auditors`;
    return [{ code: 'witness_rollback', message, since }];
  }

  /** Ends what is under way. What is published stays so. */
  async close(): Promise<void> {
    this.#stop.abort();
    clearTimeout(this.#timer);
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  /** After a restart the last published checkpoint is served again, if the policy of now would have it. */
  #resume(kept: string | undefined): void {
    if (kept === undefined) return;
    const { policy, fail, now, log } = this.#options;
    let candidate: Candidate;
    try {
      candidate = new Candidate(kept, this.#logKey, now(), verifyNative);
    } catch (error) {
      if (!(error instanceof TlogError)) throw error;
      log.warn({ err: error }, 'the checkpoint that was kept is not of this log, and is not served');
      return;
    }
    candidate.addFrom(kept, policy, verifyNative);
    this.#last = candidate;
    for (const asked of this.#witnesses) if (candidate.by(asked.witness)) asked.recall(candidate.size);
    if (fail === 'closed' && !candidate.hasQuorum(policy)) return;
    this.#candidate = candidate;
    this.#published = { candidate, note: kept, version: candidate.version };
  }

  /** Looks at the log, and again after the interval. */
  #look(): void {
    if (this.#stop.signal.aborted) return;
    this.#run(
      // What has waited long enough is published before something newer takes its place.
      this.#publish()
        .then(() => this.#takeCandidate())
        .finally(() => {
          if (this.#stop.signal.aborted) return;
          this.#timer = setTimeout(() => this.#look(), this.#options.intervalMs);
          this.#goOn();
        }),
    );
  }

  /**
   * The checkpoint of now becomes the candidate, unless one is still gathering its cosignatures. It is read all the
   * same: it tells whether the key changed, and what the old key signed may not be served as long as that takes.
   */
  async #takeCandidate(): Promise<void> {
    const note = await unless('LOG_EMPTY', this.#options.ledger.checkpoint());
    if (note === undefined) return;
    const next = await this.#candidateOf(note);
    const current = this.#candidate;
    const isGathering = current !== undefined && current !== this.#published?.candidate;
    if (isGathering && (!this.#hasWaited(current) || this.#due() === current)) return;
    if (next.text === current?.text) return;
    this.#candidate = next.bare() === this.#last?.bare() ? this.#last : next;
  }

  /** A checkpoint key is revoked seldom, and then what it signed is not to be shown any more. */
  async #candidateOf(note: string): Promise<Candidate> {
    const { ledger, now, log } = this.#options;
    try {
      return new Candidate(note, this.#logKey, now(), verifyNative);
    } catch (error) {
      const { checkpoint_vkey: vkey } = await ledger.status();
      if (!(error instanceof TlogError) || vkey === formatVerifierKey(this.#logKey)) throw error;
      log.warn(
        { vkey },
        'checkpoints have another key now: witnesses must be told, and until then cosign nothing',
      );
      this.#logKey = parseVerifierKey(sha256, vkey);
      this.#candidate = undefined;
      this.#published = undefined;
      return new Candidate(note, this.#logKey, now(), verifyNative);
    }
  }

  /** Asks whoever is to be asked, and publishes what can be. */
  #goOn(): void {
    const candidate = this.#candidate;
    if (candidate === undefined || this.#stop.signal.aborted) return;
    for (const asked of this.#witnesses) {
      if (!asked.wants(candidate)) continue;
      this.#run(
        asked.ask(candidate).then((cosigned) => {
          if (cosigned) this.#goOn();
        }),
      );
    }
    this.#run(this.#publish());
  }

  /** Publishes whatever is due; one at a time, so that what is on disk only grows. */
  #publish(): Promise<void> {
    this.#publishing ??= this.#publishDue().finally(() => {
      this.#publishing = undefined;
    });
    return this.#publishing;
  }

  async #publishDue(): Promise<void> {
    for (let due = this.#due(); due !== undefined; due = this.#due()) {
      if (!(await this.#extendsLast(due))) {
        this.#refused = due;
        continue;
      }
      const { version } = due;
      const note = due.note(this.#options.policy);
      await this.#options.ledger.keepCheckpoint(note);
      if (due.logKey !== this.#logKey) continue;
      this.#published = { candidate: due, note, version };
      this.#last = due;
      this.#rollback = undefined;
      this.#trouble = '';
    }
  }

  /** What is published, where it got more cosignatures; else the candidate, where it may be. */
  #due(): Candidate | undefined {
    const { policy } = this.#options;
    const published = this.#published;
    if (published !== undefined && published.version < published.candidate.version)
      return published.candidate;
    const candidate = this.#candidate;
    if (candidate === undefined || candidate === published?.candidate) return undefined;
    if (candidate === this.#refused) return undefined;
    return candidate.hasQuorum(policy) || this.#mayOpen(candidate) ? candidate : undefined;
  }

  /** `open` makes up for witnesses that are silent, not for as many as make a quorum saying that the log went back. */
  #mayOpen(candidate: Candidate): boolean {
    const { policy, fail } = this.#options;
    if (fail === 'closed' || !this.#hasWaited(candidate)) return false;
    const against = this.#witnesses.filter(
      ({ failing }) => failing === 'ahead' || failing === 'inconsistent',
    );
    return !isQuorum(policy, new Set(against.map(({ witness }) => witness)));
  }

  /** Our own check of what the witnesses check: a log that went back or changed publishes nothing. */
  async #extendsLast(candidate: Candidate): Promise<boolean> {
    const last = this.#last;
    if (last === undefined || last === candidate) return true;
    try {
      verifyConsistency(sha256, {
        firstSize: last.size,
        firstRoot: last.checkpoint.root,
        secondSize: candidate.size,
        secondRoot: candidate.checkpoint.root,
        path: last.size < candidate.size ? await this.#proof(last.size, candidate.size) : [],
      });
      return true;
    } catch (error) {
      if (!(error instanceof TlogError)) throw error;
      const message = 'the log went back behind the checkpoint that was published last, or changed';
      this.#rollback = { message, since: this.#rollback?.since ?? this.#options.now() };
      const about = { published: last.size, size: candidate.size, fault: error.fault };
      this.#tell('error', about, `not published: ${message}`);
      return false;
    }
  }

  #hasWaited(candidate: Candidate): boolean {
    const waitedMs = this.#options.now() - candidate.since;
    return waitedMs >= this.#options.waitMs || waitedMs < 0; // the clock was set back
  }

  async #proof(first: number, second: number): Promise<readonly Hash[]> {
    const { audit_path } = await this.#options.ledger.consistency(first, second);
    return audit_path.map((hash) => hexToBytes(hash, hashBytes));
  }

  /** The path of the leaf after the first ones has their root as its only hash from leaf 0 on. */
  async #firstRoot(first: number, second: number): Promise<Hash> {
    const { audit_path } = await this.#options.ledger.inclusion({ leaf_index: first }, second);
    const at = inclusionPlan(first, second).findIndex(([start]) => start!.index === 0);
    return hexToBytes(audit_path[at]!, hashBytes);
  }

  #reportFailure(witness: PolicyWitness, { kind, message, claimed }: Failure, news: boolean): void {
    const { log } = this.#options;
    const about = { witness: witness.name, failure: kind, ...(claimed === undefined ? {} : { claimed }) };
    if (kind === 'ahead') {
      // No witness can cosign a history that leaves the one that it knows: such a log goes on under another name.
      const advice =
        'the log went back without a new life: if it was put back by copying files, run `candor rebuild --new-life`, and ' +
        'give the witnesses the new vkey';
      log.error({ ...about, advice }, `witness ${message}`);
    } else if (kind === 'inconsistent') log.error(about, `witness ${message}`);
    else if (news) log.warn(about, `witness ${message}`);
  }

  /** Work in the background. Where the ledger fails, the next look tries again. */
  #run(work: Promise<unknown>): void {
    const settled = work.then(
      () => undefined,
      (error: unknown) => {
        if (this.#stop.signal.aborted) return;
        this.#tell('warn', { err: error }, 'the checkpoint could not be brought forward');
      },
    );
    this.#underWay.add(settled);
    void settled.then(() => this.#underWay.delete(settled));
  }

  /** Says what holds until something else does, once. */
  #tell(level: 'warn' | 'error', about: object, message: string): void {
    if (message === this.#trouble) return;
    this.#trouble = message;
    this.#options.log[level](about, message);
  }
}

/** Undefined for a refusal with this code. */
async function unless<T>(code: ErrorCode, answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ServiceError && error.code === code) return undefined;
    throw error;
  }
}
