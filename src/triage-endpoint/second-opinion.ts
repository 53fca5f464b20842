import type { Alert } from '../contract/resources/alert.ts';
import type { Asset } from '../contract/resources/asset.ts';
import { type Severity, severities } from '../contract/vocabulary.ts';
import type { IsHome } from '../events/home-networks.ts';
import { addressBytes } from '../events/ip.ts';
import { type LimitName, limits } from '../limits.ts';
import type { AlertUpdate, Store, StoreReader } from '../store/store.ts';
import { isLocal } from '../triage/model.ts';
import { askEndpoint, type Endpoint, type EndpointFailure, endpointFailures } from './ask.ts';
import { questionOf, type Subject } from './question.ts';
import { Redactor } from './redactor.ts';

/** What became of a question: a verdict that was set, one that came too late, or why there was none. */
export type AskedOutcome = 'answered' | 'stale' | 'unstored' | 'not_asked' | EndpointFailure;

export interface SecondOpinionOptions {
  readonly endpoint: Endpoint;
  readonly minSeverity: Severity;
  readonly maxPerMinute: number;
  readonly redact: boolean;
  readonly isHome: IsHome;
  readonly store: Pick<Store, 'setAiVerdict'>;
  readonly reader: Pick<StoreReader, 'assets' | 'getAsset'>;
  /** A verdict was set. */
  readonly publish: (update: AlertUpdate) => void;
  readonly onOutcome: (outcome: AskedOutcome) => void;
  readonly limitReached: (limit: LimitName) => void;
  /** Of a kind of failure that the last question did not have, and of what is no failure of the endpoint. */
  readonly onTrouble: (message: string, details: object) => void;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Nobody can foresee it. */
  readonly newMark: () => string;
}

const minute = 60_000;
const firstPauseMs = 1000;
/** Of a reason, with what its placeholders stand for. */
const maxReasonLength = 1000;

/**
 * Puts alerts that the local model has just triaged to an endpoint, in the background, and its verdict in the place of the
 * local one: nothing else of an alert changes, whatever it answers. Whoever can't be asked keeps the local verdict.
 *
 *     alert triaged ──▶ queue: the newest of each alert ──▶ endpoint: some at a time, so many a minute ──▶ store ──▶ published
 *                          │ full                              │ failure: this one keeps its verdict; a pause that doubles
 *                          ▼                                   ▼
 *                     counted, not asked                  the queue waits
 */
export class SecondOpinion {
  readonly #options: SecondOpinionOptions;
  readonly #queue = new Map<string, AlertUpdate['alert']>();
  /** When the local verdict was made with which an alert came here, by its id: it comes once with each. */
  readonly #seen = new Map<string, string>();
  readonly #stop = new AbortController();
  readonly #underWay = new Set<Promise<void>>();
  /** When the questions of the last minute were asked, oldest first. */
  #asked: number[] = [];
  #pauseMs = 0;
  #pausedUntil = 0;
  #failing: EndpointFailure | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: SecondOpinionOptions) {
    this.#options = options;
  }

  /** Alerts that changed, after the commit. */
  saw(updates: readonly AlertUpdate[]): void {
    for (const { alert } of updates) {
      if (!this.#wants(alert)) continue;
      this.#remember(alert);
      this.#queue.delete(alert.id);
      this.#queue.set(alert.id, alert);
      if (this.#queue.size <= limits.maxTriageQueue) continue;
      // The newest are those that somebody may be looking at.
      for (const oldest of this.#queue.keys()) {
        this.#queue.delete(oldest);
        break;
      }
      this.#options.limitReached('maxTriageQueue');
      this.#options.onOutcome('not_asked');
    }
    this.#askSome();
  }

  /** Ends what is under way; whoever waits keeps the local verdict. */
  async close(): Promise<void> {
    this.#queue.clear();
    clearTimeout(this.#timer);
    this.#stop.abort();
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  /** Alerts that were triaged since they came last, that are open, and that nobody has judged. */
  #wants({ id, severity, status, verdict, ai_verdict }: AlertUpdate['alert']): boolean {
    return (
      !this.#stop.signal.aborted &&
      severities.indexOf(severity) >= severities.indexOf(this.#options.minSeverity) &&
      (status === 'new' || status === 'in_progress') &&
      verdict === undefined &&
      ai_verdict !== undefined &&
      isLocal(ai_verdict.model) &&
      ai_verdict.at !== this.#seen.get(id)
    );
  }

  #remember({ id, ai_verdict }: AlertUpdate['alert']): void {
    this.#seen.delete(id);
    this.#seen.set(id, ai_verdict!.at);
    if (this.#seen.size <= limits.maxTriageSeen) return;
    for (const oldest of this.#seen.keys()) {
      this.#seen.delete(oldest);
      return;
    }
  }

  #askSome(): void {
    clearTimeout(this.#timer);
    const now = this.#options.now();
    this.#asked = this.#asked.filter((at) => at > now - minute && at <= now);
    for (const [id, alert] of this.#queue) {
      const waitMs = this.#waitMs(now);
      if (waitMs > 0) this.#timer = setTimeout(() => this.#askSome(), waitMs).unref();
      // While it fails, one question finds out whether it still does.
      const most = this.#failing === undefined ? limits.maxTriageInFlight : 1;
      if (waitMs > 0 || this.#underWay.size >= most) return;
      this.#queue.delete(id);
      this.#asked.push(now);
      const asking = this.#ask(alert).finally(() => {
        this.#underWay.delete(asking);
        if (!this.#stop.signal.aborted) this.#askSome();
      });
      this.#underWay.add(asking);
    }
  }

  #waitMs(now: number): number {
    const paused = Math.min(this.#pausedUntil - now, this.#pauseMs);
    const isFull = this.#asked.length >= this.#options.maxPerMinute;
    return Math.max(paused, isFull ? this.#asked[0]! + minute - now : 0);
  }

  async #ask(alert: AlertUpdate['alert']): Promise<void> {
    const { endpoint, store, onOutcome, onTrouble, publish, newMark } = this.#options;
    try {
      const { subject, redactor } = this.#subjectOf(alert);
      const asked = await askEndpoint(endpoint, questionOf(subject, redactor, newMark()), this.#stop.signal);
      if (this.#stop.signal.aborted) return;
      if (asked.kind === 'failed') {
        this.#failed(asked.failure, asked.status);
        return;
      }
      this.#pauseMs = 0;
      this.#failing = undefined;
      const { verdict, confidence, reasons } = asked.answer;
      const given = {
        verdict,
        confidence,
        reasons: reasons.map((reason) => redactor.restore(reason).slice(0, maxReasonLength)),
        model: `endpoint/${endpoint.model}`,
      };
      const update = await store.setAiVerdict(alert.id, given, alert.ai_verdict!.at);
      onOutcome(update === undefined ? 'stale' : 'answered');
      if (update !== undefined) publish(update);
    } catch (error) {
      onOutcome('unstored');
      onTrouble('the verdict of the triage endpoint could not be kept', { err: error });
    }
  }

  #failed(failure: EndpointFailure, status: number | undefined): void {
    const { now, onOutcome, onTrouble } = this.#options;
    onOutcome(failure);
    // Questions that were under way together fail as one.
    if (now() >= this.#pausedUntil || this.#pauseMs === 0) {
      this.#pauseMs = Math.min(limits.maxTriagePauseMs, Math.max(firstPauseMs, 2 * this.#pauseMs));
      this.#pausedUntil = now() + this.#pauseMs;
    }
    if (this.#failing !== failure)
      onTrouble(`the triage endpoint ${endpointFailures[failure]}; alerts keep their local verdicts`, {
        failure,
        ...(status === undefined ? {} : { status }),
      });
    this.#failing = failure;
  }

  /** The alert with what is known of the assets at its ends, whose names are not to be sent. */
  #subjectOf(alert: Alert): { subject: Subject; redactor: Redactor } {
    const { reader, redact, isHome } = this.#options;
    reader.assets.refresh();
    const time = Date.parse(alert.last_seen);
    const assetAt = (ip: string | undefined): Asset | undefined => {
      const id = ip === undefined ? undefined : reader.assets.at(ip, time);
      return id === undefined ? undefined : reader.getAsset(id);
    };
    const homeOf = (ip: string | undefined) => {
      const bytes = ip === undefined ? undefined : addressBytes(ip);
      return bytes && isHome(bytes);
    };
    const src = assetAt(alert.src_ip);
    const dst = assetAt(alert.dst_ip);
    const names = [src, dst].flatMap((asset) => (asset === undefined ? [] : namesOf(asset)));
    const subject = { alert, src, dst, srcHome: homeOf(alert.src_ip), dstHome: homeOf(alert.dst_ip) };
    return { subject, redactor: new Redactor(redact, isHome, names) };
  }
}

/** Names of an asset and their first labels, which texts call it by. */
const namesOf = ({ name, hostnames }: Asset): string[] =>
  [name, ...hostnames].flatMap((full) => (full === undefined ? [] : [full, full.split('.', 1)[0]!]));
