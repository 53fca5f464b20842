import type { Logger } from 'pino';
import type { WitnessStatus } from '../contract/resources/status.ts';
import { verifyNative } from '../crypto/ed25519.ts';
import { sha256 } from '../crypto/sha256.ts';
import { type ErrorCode, ServiceError } from '../errors.ts';
import type { Ledger, LedgerFinding } from '../ledger/ledger.ts';
import { limits } from '../limits.ts';
import { TlogError } from '../tlog/fault.ts';
import { hexToBytes } from '../tlog/hex.ts';
import { formatVerifierKey, parseVerifierKey, type VerifierKey } from '../tlog/note.ts';
import { inclusionPlan, verifyConsistency } from '../tlog/proof.ts';
import { equalHashes, type Hash, hashBytes } from '../tlog/tree.ts';
import { Candidate } from './candidate.ts';
import { isQuorum, type Policy, type PolicyWitness } from './policy.ts';
import { type Failure, type RollbackReport, WitnessClient } from './witness-client.ts';

export interface CosignerOptions {
  readonly ledger: Pick<
    Ledger,
    'checkpoint' | 'consistency' | 'inclusion' | 'keepCheckpoint' | 'keptCheckpoint' | 'status'
  >;
  readonly policy: Policy;
  /** How long a new checkpoint waits for its quorum before `fail` applies and a newer checkpoint may replace it. */
  readonly waitMs: number;
  /** How often the log is checked for a new checkpoint to submit to the witnesses. */
  readonly intervalMs: number;
  /** Behaviour without a quorum: `open` publishes anyway, `closed` keeps the published checkpoint. */
  readonly fail: 'open' | 'closed';
  /** Timeout of one request to a witness. */
  readonly requestTimeoutMs?: number;
  readonly log: Pick<Logger, 'warn' | 'error'>;
  /** Returns the current time in epoch milliseconds. */
  readonly now: () => number;
}

/** The checkpoint that `/checkpoint` serves, and its note on disk. */
interface Published {
  readonly candidate: Candidate;
  readonly note: string;
  /** The candidate's version for which the note was written. */
  readonly version: number;
}

/**
 * Requests cosignatures of the log's checkpoints from the witnesses of a policy (C2SP tlog-witness), and publishes the
 * checkpoints.
 *
 *     log grows ──▶ candidate ──▶ all witnesses in parallel ──▶ quorum, or `open` ──▶ stored ──▶ published
 *                       ▲                │ late cosignatures are added
 *                       └── next, once this one is published or the wait is over
 *
 * Guarantees: a checkpoint is stored before it is published, and each published checkpoint extends the previous one,
 * across restarts too. Witnesses don't wait for each other, and appends don't wait for witnesses.
 */
export class Cosigner {
  readonly #options: CosignerOptions;
  #logKey: VerifierKey;
  readonly #witnesses: readonly WitnessClient[];
  readonly #stop = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  #candidate: Candidate | undefined;
  #published: Published | undefined;
  /** The last published checkpoint, even if the current policy does not allow serving it. */
  #lastPublished: Candidate | undefined;
  /** A candidate that must not be published, because it does not extend the last published checkpoint. */
  #inconsistent: Candidate | undefined;
  /** Report that the log is smaller than the last published checkpoint or contradicts it; undefined otherwise. */
  #rollback: RollbackReport | undefined;
  #publishing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** The last logged problem, until it is resolved. */
  #loggedProblem = '';

  private constructor(options: CosignerOptions, logKey: VerifierKey) {
    this.#options = options;
    this.#logKey = logKey;
    const clientOptions = {
      consistency: (first: number, second: number) => this.#proof(first, second),
      firstRoot: (first: number, second: number) => this.#firstRoot(first, second),
      now: options.now,
      timeoutMs: options.requestTimeoutMs ?? Math.max(options.waitMs, limits.witnessRequestTimeoutMs),
      signal: this.#stop.signal,
      onFailure: (witness: PolicyWitness, failure: Failure, isNew: boolean) =>
        this.#reportFailure(witness, failure, isNew),
    };
    this.#witnesses = options.policy.witnesses.flatMap((witness) =>
      witness.url === undefined ? [] : [new WitnessClient(witness, witness.url, clientOptions)],
    );
  }

  /** Loads the stored checkpoint and starts. The log must have a checkpoint key; it may be degraded. */
  static async start(options: CosignerOptions): Promise<Cosigner> {
    const { ledger, policy, log } = options;
    const logKey = parseVerifierKey(sha256, (await ledger.status()).checkpoint_vkey);
    const isListed = policy.logs.some(({ key }) => equalHashes(key.publicKey, logKey.publicKey));
    if (policy.logs.length > 0 && !isListed) {
      log.warn({ vkey: formatVerifierKey(logKey) }, 'the witness policy lists logs, but not this one');
    }
    const cosigner = new Cosigner(options, logKey);
    cosigner.#resume(await undefinedOn('UNAVAILABLE', ledger.keptCheckpoint()));
    cosigner.#checkLog();
    return cosigner;
  }

  /**
   * Returns the checkpoint to serve, as a note. Throws LOG_EMPTY before the first entry, and UNAVAILABLE while no
   * checkpoint may be published.
   */
  async checkpoint(): Promise<string> {
    if (this.#published !== undefined) return this.#published.note;
    await this.#options.ledger.checkpoint();
    throw new ServiceError('UNAVAILABLE', 'no checkpoint has a quorum of witnesses yet', {
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
      witnesses: this.#witnesses.map((client) => ({
        name: client.witness.name,
        key_name: client.witness.key.name,
        vkey: formatVerifierKey(client.witness.key),
        ...(client.size === undefined ? {} : { size: client.size }),
        ...(client.failing === undefined ? {} : { failing: client.failing }),
        ...(client.rollback === undefined ? {} : { rollback_since: new Date(client.rollback.since).toISOString() }),
        cosignatures: client.cosignatures,
        failures: [...client.failures].map(([kind, times]) => ({ kind, times })),
      })),
    };
  }

  /**
   * Returns the finding `witness_rollback` while a witness, or the last published checkpoint, shows that the log was
   * rolled back.
   */
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

  /** Aborts requests in progress. The published checkpoint stays stored. */
  async close(): Promise<void> {
    this.#stop.abort();
    clearTimeout(this.#timer);
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  /** Serves the last published checkpoint again after a restart, if the current policy allows it. */
  #resume(kept: string | undefined): void {
    if (kept === undefined) return;
    const { policy, fail, now, log } = this.#options;
    let candidate: Candidate;
    try {
      candidate = new Candidate(kept, this.#logKey, now(), verifyNative);
    } catch (error) {
      if (!(error instanceof TlogError)) throw error;
      log.warn({ err: error }, 'the stored checkpoint is not from this log; it is not served');
      return;
    }
    candidate.addFrom(kept, policy, verifyNative);
    this.#lastPublished = candidate;
    for (const client of this.#witnesses) if (candidate.by(client.witness)) client.recall(candidate.size);
    if (fail === 'closed' && !candidate.hasQuorum(policy)) return;
    this.#candidate = candidate;
    this.#published = { candidate, note: kept, version: candidate.version };
  }

  /** Checks the log for a new checkpoint, and schedules the next check. */
  #checkLog(): void {
    if (this.#stop.signal.aborted) return;
    this.#run(
      // Publish a candidate whose wait is over before a newer candidate replaces it.
      this.#publish()
        .then(() => this.#takeCandidate())
        .finally(() => {
          if (this.#stop.signal.aborted) return;
          this.#timer = setTimeout(() => this.#checkLog(), this.#options.intervalMs);
          this.#advance();
        }),
    );
  }

  /**
   * Makes the current checkpoint the candidate, unless a candidate is still collecting cosignatures. The
   * checkpoint is read in any case, because it shows whether the key has changed: checkpoints under a revoked
   * key must not be served any longer.
   */
  async #takeCandidate(): Promise<void> {
    const note = await undefinedOn('LOG_EMPTY', this.#options.ledger.checkpoint());
    if (note === undefined) return;
    const next = await this.#candidateOf(note);
    const current = this.#candidate;
    const isGathering = current !== undefined && current !== this.#published?.candidate;
    if (isGathering && (!this.#hasWaited(current) || this.#due() === current)) return;
    if (next.text === current?.text) return;
    this.#candidate = next.bare() === this.#lastPublished?.bare() ? this.#lastPublished : next;
  }

  /**
   * Creates a candidate. If the checkpoint key was replaced (this happens only after a revocation), checkpoints
   * signed by the old key are dropped.
   */
  async #candidateOf(note: string): Promise<Candidate> {
    const { ledger, now, log } = this.#options;
    try {
      return new Candidate(note, this.#logKey, now(), verifyNative);
    } catch (error) {
      const { checkpoint_vkey: vkey } = await ledger.status();
      if (!(error instanceof TlogError) || vkey === formatVerifierKey(this.#logKey)) throw error;
      log.warn({ vkey }, 'the checkpoint key has changed; send witnesses the new vkey: they cosign nothing without it');
      this.#logKey = parseVerifierKey(sha256, vkey);
      this.#candidate = undefined;
      this.#published = undefined;
      return new Candidate(note, this.#logKey, now(), verifyNative);
    }
  }

  /** Requests the missing cosignatures, and publishes checkpoints that may be published. */
  #advance(): void {
    const candidate = this.#candidate;
    if (candidate === undefined || this.#stop.signal.aborted) return;
    for (const client of this.#witnesses) {
      if (!client.needs(candidate)) continue;
      this.#run(
        client.requestCosignatureOf(candidate).then((cosigned) => {
          if (cosigned) this.#advance();
        }),
      );
    }
    this.#run(this.#publish());
  }

  /** Publishes everything that is due. Only one call runs at a time, so that the stored checkpoint never shrinks. */
  #publish(): Promise<void> {
    this.#publishing ??= this.#publishDue().finally(() => {
      this.#publishing = undefined;
    });
    return this.#publishing;
  }

  async #publishDue(): Promise<void> {
    for (let due = this.#due(); due !== undefined; due = this.#due()) {
      if (!(await this.#extendsLast(due))) {
        this.#inconsistent = due;
        continue;
      }
      const { version } = due;
      const note = due.note(this.#options.policy);
      await this.#options.ledger.keepCheckpoint(note);
      if (due.logKey !== this.#logKey) continue;
      this.#published = { candidate: due, note, version };
      this.#lastPublished = due;
      this.#rollback = undefined;
      this.#loggedProblem = '';
    }
  }

  /**
   * Returns the published checkpoint if it has new cosignatures; otherwise the candidate, if it may be published;
   * otherwise undefined.
   */
  #due(): Candidate | undefined {
    const { policy } = this.#options;
    const published = this.#published;
    if (published !== undefined && published.version < published.candidate.version) return published.candidate;
    const candidate = this.#candidate;
    if (candidate === undefined || candidate === published?.candidate) return undefined;
    if (candidate === this.#inconsistent) return undefined;
    return candidate.hasQuorum(policy) || this.#mayOpen(candidate) ? candidate : undefined;
  }

  /**
   * Returns whether `open` allows publication. The setting applies if witnesses do not respond, but not if enough
   * witnesses for a quorum report a rollback.
   */
  #mayOpen(candidate: Candidate): boolean {
    const { policy, fail } = this.#options;
    if (fail === 'closed' || !this.#hasWaited(candidate)) return false;
    const against = this.#witnesses.filter(({ failing }) => failing === 'ahead' || failing === 'inconsistent');
    return !isQuorum(policy, new Set(against.map(({ witness }) => witness)));
  }

  /**
   * Checks locally, as witnesses do, that the candidate extends the last published checkpoint. A log that was rolled
   * back or changed publishes nothing.
   */
  async #extendsLast(candidate: Candidate): Promise<boolean> {
    const last = this.#lastPublished;
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
      const message = 'the log was rolled back behind the last published checkpoint, or contradicts it';
      this.#rollback = { message, since: this.#rollback?.since ?? this.#options.now() };
      const about = { published: last.size, size: candidate.size, fault: error.fault };
      this.#logOnce('error', about, `not published: ${message}`);
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

  /**
   * Returns the root of the first `first` leaves: the hash in the inclusion path of leaf `first` whose subtree starts
   * at leaf 0.
   */
  async #firstRoot(first: number, second: number): Promise<Hash> {
    const { audit_path } = await this.#options.ledger.inclusion({ leaf_index: first }, second);
    const at = inclusionPlan(first, second).findIndex(([start]) => start!.index === 0);
    return hexToBytes(audit_path[at]!, hashBytes);
  }

  #reportFailure(witness: PolicyWitness, { kind, message, claimed }: Failure, isNew: boolean): void {
    const { log } = this.#options;
    const about = { witness: witness.name, failure: kind, ...(claimed === undefined ? {} : { claimed }) };
    if (kind === 'ahead') {
      // A witness cannot cosign a tree that contradicts the tree it cosigned before, so such a log must continue under
      // a new origin.
      const advice =
        'the log was rolled back without a new life; if files were restored by copying, run `candor rebuild --new-life` and ' +
        'send the witnesses the new vkey';
      log.error({ ...about, advice }, `witness ${message}`);
    } else if (kind === 'inconsistent') log.error(about, `witness ${message}`);
    else if (isNew) log.warn(about, `witness ${message}`);
  }

  /** Runs background work. After a ledger failure, the next check tries again. */
  #run(work: Promise<unknown>): void {
    const settled = work.then(
      () => undefined,
      (error: unknown) => {
        if (this.#stop.signal.aborted) return;
        this.#logOnce('warn', { err: error }, 'cannot update the published checkpoint');
      },
    );
    this.#running.add(settled);
    void settled.then(() => this.#running.delete(settled));
  }

  /** Logs a message once, until a different message is logged. */
  #logOnce(level: 'warn' | 'error', about: object, message: string): void {
    if (message === this.#loggedProblem) return;
    this.#loggedProblem = message;
    this.#options.log[level](about, message);
  }
}

/** Awaits a result; undefined if it fails with this error code. */
async function undefinedOn<T>(code: ErrorCode, answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ServiceError && error.code === code) return undefined;
    throw error;
  }
}
