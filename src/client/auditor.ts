import { asLogKey, type CheckpointPolicy, isCosigned, type SignedCheckpoint } from './checkpoint.ts';
import { checkpointOf, compare, compareAhead, largestAhead, outOfTime } from './compare-heads.ts';
import type { Contradiction } from './consistency.ts';
import type { Evidence } from './evidence.ts';
import { AuditFault } from './fault.ts';
import { corroborationOf, faultWithEvidence } from './fault-evidence.ts';
import { checkInHistory } from './head-history.ts';
import { fetchChain, type KeyLink, lacksEndings, withEndings } from './key-chain.ts';
import { fetchKeyHistory, type KeyHistory } from './key-history.ts';
import { clockToleranceMs, fingerprint, type KeySet, type LogKey } from './key-set.ts';
import { withLaterEndings } from './later-endings.ts';
import { fetchAllKeys, fetchTreeHead, type HeadWithKeys, withPublishedKey } from './latest.ts';
import { EmptyLog, type LogSource, NotFound } from './log-source.ts';
import { acceptedKeys, checkpointKeyOfLife, explainNewKey } from './new-life.ts';
import { changedKey, type Pin, rootKey } from './pin.ts';
import type { SignedHead } from './tree-head.ts';
import { verifyHead } from './verify.ts';

export { fetchHead } from './latest.ts';
export type { Pin } from './pin.ts';
export { type EntryQuery, type ProvenEntry, proveEntry } from './proven-entry.ts';

/**
 * Default maximum age of a head: an idle log signs its head every hour, so the default is two hours, plus the clock
 * tolerance.
 */
export const defaultMaxAgeMs = 2 * 3_600_000 + clockToleranceMs;

export interface AuditOptions {
  /** The auditor's clock in epoch milliseconds. */
  readonly now: number;
  /** Maximum age of heads and cosignatures in milliseconds; 0 for no limit. Default: `defaultMaxAgeMs`. */
  readonly maxAgeMs?: number;
  /** Required signatures of the checkpoint. If given, a log without checkpoints is rejected. */
  readonly checkpoint?: CheckpointPolicy;
  /**
   * Fingerprints of keys confirmed with the operator. A head or checkpoint signed by such a key is accepted without a
   * chain from a pinned key, even if the tree does not extend the pinned tree.
   */
  readonly acceptedKeys?: readonly string[];
}

/** The verified statements of a successful audit. */
interface Sound {
  readonly pin: Pin;
  /** The key that signed the head. */
  readonly key: LogKey;
  /** The published keys; some may be untrusted. */
  readonly keys: KeySet;
  /** The checkpoint, which is consistent with the head; undefined if the log serves no checkpoint. */
  readonly checkpoint: SignedCheckpoint | undefined;
  /** How the signer of the head became trusted, if it is not the signer of the pinned head. */
  readonly newKey?: 'vouched' | 'accepted';
}

export type AuditResult =
  /** The log has no entries yet, and the pin, if any, expects no entries. */
  | { readonly status: 'empty' }
  /** First audit of this log; the caller stores `pin`. */
  | (Sound & { readonly status: 'pinned' })
  /** The pinned tree (possibly signed again), or a tree that provably extends it from size `from`. */
  | (Sound & { readonly status: 'unchanged' | 'extended'; readonly from: number })
  /** A tree signed by an accepted key. The tree does not extend the pinned tree; `lost` states why. */
  | (Sound & { readonly status: 'replaced'; readonly from: number; readonly lost: AuditFault })
  /**
   * The pin must not be changed. `evidence` (JSON, see evidence.ts) is set if statements of the log
   * contradict each other.
   */
  | { readonly status: 'fault'; readonly fault: AuditFault; readonly evidence?: string };

/**
 * Audits a log: fetches the latest head, the checkpoint and the keys. Verifies the signatures and the age of the head.
 * Checks that the head, the checkpoint and the pin belong to one tree, and that the history contains the pinned and the
 * latest head. Returns a fault, instead of throwing, for an invalid response of the log.
 *
 * A head is accepted only if signed by a pinned key, by a key that rotations connect to a pinned key, or by an accepted
 * key. A rejected response may come from a cache, so the audit is then repeated, bypassing caches, and the second
 * result is returned.
 */
export async function audit(log: LogSource, pin: Pin | undefined, options: AuditOptions): Promise<AuditResult> {
  if (pin !== undefined && pin.log !== log.url) {
    const moved = 'if the log has moved, write its new URL into the pin';
    const fault = new AuditFault('OTHER_LOG', `the pin belongs to ${pin.log}, not to ${log.url}; ${moved}`);
    return { status: 'fault', fault };
  }
  const result = await new Audit(log, pin, options).run();
  if (result.status !== 'fault' || result.fault.kind !== 'refused') return result;
  return new Audit(log.pastCaches?.() ?? log, pin, options).run();
}

/** The signed head, and the keys that the audit trusts. */
interface Trust {
  readonly signed: HeadWithKeys;
  readonly keys: KeySet;
  /** Rotations from the pinned keys to the signer. */
  readonly links: readonly KeyLink[];
  readonly newKey?: 'vouched' | 'accepted';
  readonly history?: KeyHistory;
}

class Audit {
  readonly #log: LogSource;
  readonly #pin: Pin | undefined;
  readonly #options: AuditOptions;
  #accepted: readonly string[];

  constructor(log: LogSource, pin: Pin | undefined, options: AuditOptions) {
    this.#log = log;
    this.#pin = pin;
    this.#options = options;
    this.#accepted = options.acceptedKeys ?? [];
  }

  async run(): Promise<AuditResult> {
    const head = await fetchTreeHead(this.#log);
    if (head instanceof EmptyLog) return this.#empty();
    if (head instanceof AuditFault) return faultResult(head);
    return this.#pin === undefined ? this.#first(head) : this.#next(head, this.#pin);
  }

  #empty(): AuditResult {
    if (this.#pin === undefined) return { status: 'empty' };
    const { size } = this.#pin.head;
    return faultResult(new AuditFault('LOG_EMPTY', `the log had ${size} entries, but now reports that it is empty`));
  }

  /** Audits without a pin. The signer of the first head is trusted on first use: users compare its fingerprint. */
  async #first(head: SignedHead): Promise<AuditResult> {
    const signed = await withPublishedKey(this.#log, head);
    if (signed instanceof AuditFault) return faultResult(signed);
    const keys = new Map([[signed.key.kid, rootKey(signed.key)]]);
    return this.#finish({ signed, keys, links: [] }, { status: 'pinned' });
  }

  async #next(head: SignedHead, pin: Pin): Promise<AuditResult> {
    const isPinned = pin.keys.has(head.signerKeyId);
    if (isPinned) {
      // The head is verified with the pinned keys before published keys are fetched. A contradiction signed by a pinned
      // key must be reported, whatever keys the log publishes.
      const key = verifyHead(head, pin.keys);
      if (key instanceof AuditFault) return faultResult(key);
      const contradiction = await compare(this.#log, pin.head, head);
      if (contradiction !== undefined) return this.#report(contradiction, { head, links: [], keys: pin.keys });
    }
    const signed = await withPublishedKey(this.#log, head);
    if (signed instanceof AuditFault) return faultResult(signed);
    const trust = isPinned ? { signed, keys: pin.keys, links: [] } : await this.#vouched(signed, pin);
    if (trust instanceof AuditFault) return faultResult(trust);
    const from = pin.head.size;
    const status = head.size === from ? 'unchanged' : 'extended';
    if (isPinned) return this.#finish(trust, { status, from });
    const contradiction = await compare(this.#log, pin.head, head);
    if (contradiction === undefined) return this.#finish(trust, { status, from });
    const lost = 'fault' in contradiction ? contradiction.fault : contradiction;
    if (trust.newKey === 'accepted' && lost.kind !== 'unavailable')
      return this.#finish(trust, { status: 'replaced', from, lost });
    return this.#report(contradiction, { head, ...trust });
  }

  /** Determines why a head signed by a key that is not pinned is trusted; returns a fault if it is not trusted. */
  async #vouched(signed: HeadWithKeys, pin: Pin): Promise<Trust | AuditFault> {
    const history = await fetchKeyHistory(this.#log);
    if (history instanceof AuditFault) return history;
    const known = await fetchAllKeys(this.#log, signed.keys);
    if (known instanceof AuditFault) return known;
    const roots = new Map([[pin.head.signerKeyId, pin.keys.get(pin.head.signerKeyId)!]]);
    const chain = await fetchChain(this.#log, roots, signed.key, known, history);
    if (!(chain instanceof AuditFault)) {
      const keys = new Map([...chain.trusted, ...pin.keys]);
      return { signed, keys, links: chain.links, newKey: 'vouched', history };
    }
    if (chain.kind === 'unavailable') return chain;
    if (this.#accepted.includes(fingerprint(signed.key))) {
      const named = await checkpointKeyOfLife(this.#log, { ...signed, keys: known }, history);
      if (named instanceof AuditFault) return named;
      if (named !== undefined) this.#accepted = [...this.#accepted, named];
      const keys = new Map([...pin.keys, [signed.key.kid, rootKey(signed.key, signed.key.kid)]]);
      return { signed, keys, links: [], newKey: 'accepted', history };
    }
    return explainNewKey(this.#log, pin, { ...signed, keys: known }, history, chain);
  }

  /** Runs the remaining checks once head and pin are known to belong to one tree. */
  async #finish(trust: Trust, about: AuditOutcome): Promise<AuditResult> {
    const { signed, newKey } = trust;
    const { head, key } = signed;
    const ended = await this.#withEndings(trust);
    if (ended instanceof AuditFault) return faultResult(ended);
    const changed = await this.#changedKey(signed.keys, ended);
    if (changed !== undefined) return faultResult(changed);
    const seen = await this.#checkpoint(trust, ended);
    if (seen instanceof AuditFault) return faultResult(seen);
    if (seen !== undefined && 'fault' in seen) return this.#report(seen, { head, ...trust, keys: ended });
    const known = newKey === 'accepted' ? undefined : this.#pin;
    const other = known && (await compareAhead(this.#log, known, head, seen));
    if (other !== undefined) return this.#report(other, { head, ...trust, keys: ended });
    const fault = (await this.#missingHead(head, about)) ?? outOfTime(head, this.#options.now, this.#maxAgeMs);
    if (fault?.code === 'HEAD_MISSING' || fault?.code === 'HEAD_FROM_FUTURE')
      return this.#report({ fault }, { head, ...trust, keys: ended });
    if (fault !== undefined) return faultResult(fault);

    const at = new Date(this.#options.now).toISOString();
    const keys = this.#pinnedKeys(ended, seen, newKey, ended.get(head.signerKeyId)?.life);
    const pinnedAt = this.#pin?.pinnedAt ?? at;
    const { entries, checkpoint: earliest, checkpointAhead: _, ...before } = this.#pin ?? {};
    const latest = seen?.size === head.size && isCosigned(seen.note) ? seen.note : undefined;
    const checkpoint = about.status === 'unchanged' ? (earliest ?? latest) : latest;
    const checkpointAhead = largestAhead(head, [known?.checkpointAhead, seen?.note]);
    const pin: Pin = {
      ...before,
      log: this.#log.url,
      head,
      keys,
      pinnedAt,
      updatedAt: at,
      ...(checkpoint !== undefined && { checkpoint }),
      ...(checkpointAhead !== undefined && { checkpointAhead }),
    };
    const checked = entries === undefined || about.status === 'replaced' ? pin : { ...pin, entries };
    const sound = { pin: checked, key, keys: signed.keys, checkpoint: seen, ...(newKey && { newKey }) };
    return { ...about, ...sound };
  }

  async #withEndings({ signed: { head }, keys, history }: Trust): Promise<KeySet | AuditFault> {
    if (history === undefined && this.#accepted.length === 0 && !lacksEndings(keys, head)) return keys;
    const known = history ?? (await fetchKeyHistory(this.#log));
    return known instanceof AuditFault ? known : withEndings(this.#log, keys, head, known);
  }

  async #changedKey(published: KeySet, trusted: KeySet): Promise<AuditFault | undefined> {
    if (this.#pin === undefined) return undefined;
    const complete = [...trusted.keys()].every((kid) => published.has(kid));
    const keys = complete ? published : await fetchAllKeys(this.#log, published);
    if (keys instanceof AuditFault) return keys;
    const accepted = acceptedKeys(keys, this.#accepted);
    const wanted = new Map([...trusted].filter(([kid]) => !accepted.has(kid)));
    return changedKey({ ...this.#pin, keys: wanted }, keys);
  }

  /**
   * Fetches the checkpoint, which must be signed by the pinned checkpoint key, by an accepted key, or on first use by a
   * published key. Returns undefined if the log serves no checkpoint, and neither the pin nor the caller requires one.
   */
  async #checkpoint({ signed: { head, keys: published }, newKey }: Trust, trusted: KeySet): Promise<CheckpointResult> {
    const accepted = acceptedKeys(published, this.#accepted);
    const pinned = new Map([...trusted].filter(([kid, key]) => isCheckpointKey(key) && !accepted.has(kid)));
    // If the pinned key was revoked, only an accepted key can replace it.
    const hadOne = newKey !== 'accepted' && [...trusted.values()].some(({ purpose }) => purpose === 'checkpoint');
    const isFirst = pinned.size === 0 && !hadOne;
    const keys = isFirst ? published : new Map([...pinned, ...accepted]);
    const seen = await checkpointOf(this.#log, { head, keys }, this.#policy);
    if (seen instanceof NotFound)
      return isFirst && this.#policy === undefined
        ? undefined
        : new AuditFault('CHECKPOINT_WITHHELD', `the log serves no checkpoint: ${seen.message}`);
    if (isFirst || !(seen instanceof AuditFault) || seen.code !== 'UNSIGNED_CHECKPOINT') return seen;
    const other = await checkpointOf(this.#log, { head, keys: published }, this.#policy);
    if (other === undefined || other instanceof AuditFault || 'fault' in other) return seen;
    return new AuditFault(
      'UNVOUCHED_KEY',
      `the checkpoint is signed by key ${other.key.kid}, not by the pinned checkpoint key`,
      fingerprint(other.key),
    );
  }

  async #missingHead(head: SignedHead, { status }: AuditOutcome): Promise<AuditFault | undefined> {
    const missing = await checkInHistory(this.#log, head);
    if (missing !== undefined || this.#pin === undefined || status === 'replaced') return missing;
    return checkInHistory(this.#log, this.#pin.head);
  }

  /**
   * Returns the trusted keys and the checkpoint key for the new pin. After a key was accepted, earlier keys are kept
   * only if they are known to have ended.
   */
  #pinnedKeys(
    trusted: KeySet,
    seen: SignedCheckpoint | undefined,
    newKey: Trust['newKey'],
    life: string | undefined,
  ): KeySet {
    const isAccepted = (key: LogKey) => this.#accepted.includes(fingerprint(key));
    const pinned = [...trusted].filter(
      ([kid, key]) => newKey !== 'accepted' || key.state !== 'active' || isAccepted(key) || kid === seen?.key.kid,
    );
    // A checkpoint key given by the caller (`policy.logKey`) is not pinned. A key without a chain of trust is
    // pinned only on first use: later, a proxy could inject its own.
    const isPinned = (key: LogKey) =>
      this.#pin === undefined || newKey === 'accepted' || isAccepted(key) || trusted.has(key.kid);
    const own =
      this.#policy?.logKey === undefined && seen !== undefined && isPinned(seen.key)
        ? [checkpointRoot(seen.key, life)]
        : [];
    return new Map([...pinned, ...own.map((key) => [key.kid, key] as const)]);
  }

  get #maxAgeMs(): number {
    return this.#options.maxAgeMs ?? defaultMaxAgeMs;
  }

  get #policy(): CheckpointPolicy | undefined {
    const { checkpoint, now } = this.#options;
    if (checkpoint === undefined || this.#maxAgeMs === 0) return checkpoint;
    return { ...checkpoint, cosignedSinceS: Math.max(0, Math.floor((now - this.#maxAgeMs) / 1000)) };
  }

  /**
   * Writes evidence of a contradiction. The contradiction is reported as misbehaviour only if the evidence is
   * conclusive and the log serves its key history.
   */
  async #report(
    contradiction: AuditFault | FoundContradiction,
    { head, links, keys, signed }: Pick<Trust, 'links' | 'keys'> & { head: SignedHead; signed?: HeadWithKeys },
  ): Promise<AuditResult> {
    if (contradiction instanceof AuditFault) return faultResult(contradiction);
    const { fault, ...details } = contradiction;
    const pin = this.#pin;
    const ended = pin && (await withLaterEndings(this.#log, pin, head));
    const [pinnedKeys, withheld] = ended instanceof AuditFault ? [pin!.keys, ended] : [ended];
    const life = keys.get(head.signerKeyId)?.life;
    const logKey = this.#policy?.logKey === undefined ? undefined : asLogKey(this.#policy.logKey, life);
    const evidence: Evidence = {
      code: fault.code,
      message: fault.message,
      log: this.#log.url,
      foundAt: new Date(this.#options.now).toISOString(),
      ...details,
      ...(pin && { pinnedAt: pin.updatedAt, pinnedHead: pin.head, pinnedKeys: withKey(pinnedKeys!, logKey) }),
      corroboration: corroborationOf(pin),
      ...(links.length > 0 && { links }),
      head,
      keys: new Map([...(signed?.keys ?? []), ...withKey(keys, logKey)]),
    };
    return faultWithEvidence(evidence, fault, this.#log, withheld);
  }
}

type AuditOutcome =
  | { readonly status: 'pinned' }
  | { readonly status: 'unchanged' | 'extended'; readonly from: number }
  | { readonly status: 'replaced'; readonly from: number; readonly lost: AuditFault };

type CheckpointResult = SignedCheckpoint | AuditFault | (Contradiction & { checkpoint: string }) | undefined;

type FoundContradiction = Contradiction & Pick<Evidence, 'checkpoint' | 'checkpoints'>;

const faultResult = (fault: AuditFault): AuditResult => ({ status: 'fault', fault });

function isCheckpointKey({ purpose, state }: LogKey): boolean {
  return purpose === 'checkpoint' && state === 'active';
}

/** Returns the key as an active checkpoint key in the log's life `life`, without `fromSize` and `toSize`. */
function checkpointRoot({ kid, x, publicKey, origin }: LogKey, life: string | undefined): LogKey {
  const named = { ...(origin !== undefined && { origin }), ...(life !== undefined && { life }) };
  const about = { purpose: 'checkpoint', state: 'active', ...named };
  return { kid, x, publicKey, ...about, fromSize: undefined, toSize: undefined };
}

function withKey(keys: KeySet, key: LogKey | undefined): KeySet {
  return key === undefined ? keys : new Map([...keys, [key.kid, key]]);
}
