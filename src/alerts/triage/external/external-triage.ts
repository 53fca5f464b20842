import type { Alert } from '../../../contract/resources/alert.ts';
import type { Asset } from '../../../contract/resources/asset.ts';
import { type Severity, severities } from '../../../contract/vocabulary.ts';
import { type LimitName, limits } from '../../../limits.ts';
import type { IsHome } from '../../../net/home-networks.ts';
import { addressBytes } from '../../../net/ip.ts';
import type { AlertUpdate, Store, StoreReader } from '../../../store/store.ts';
import { isLocal } from '../local/model.ts';
import { askEndpoint, type Endpoint, type EndpointFailure, endpointFailures } from './ask.ts';
import { questionOf, type Subject } from './question.ts';
import { Redactor } from './redactor.ts';

/**
 * Outcome of a request: the verdict was set, the verdict was outdated, or the reason why there is no verdict.
 */
export type TriageOutcome = 'answered' | 'stale' | 'unstored' | 'not_asked' | EndpointFailure;

export interface SecondOpinionOptions {
  readonly endpoint: Endpoint;
  readonly minSeverity: Severity;
  readonly maxPerMinute: number;
  readonly redact: boolean;
  readonly isHome: IsHome;
  readonly store: Pick<Store, 'setAiVerdict'>;
  readonly reader: Pick<StoreReader, 'assets' | 'getAsset'>;
  readonly onOutcome: (outcome: TriageOutcome) => void;
  readonly limitReached: (limit: LimitName) => void;
  /**
   * Called for a failure whose kind differs from that of the last request, and for errors in the service
   * itself.
   */
  readonly onTrouble: (message: string, details: object) => void;
  /** Returns the time in epoch milliseconds. */
  readonly now: () => number;
  /** Returns an unpredictable text. */
  readonly newMark: () => string;
}

const minute = 60_000;
const firstPauseMs = 1000;
/** Maximum length of a reason after placeholders are restored. */
const maxReasonLength = 1000;

/**
 * Sends alerts that the local model has triaged to an external endpoint, in the background, and replaces the
 * local verdict with the verdict of the endpoint. No other attribute of an alert changes. If a request fails,
 * the alert keeps its local verdict.
 *
 *     alert triaged ──▶ queue: latest state per alert ──▶ endpoint: limited concurrency and rate ──▶ store ──▶ published
 *                          │ full                              │ failure: keep the local verdict; exponential backoff
 *                          ▼                                   ▼
 *                     counted, not sent                   the queue waits
 */
export class ExternalTriage {
  readonly #options: SecondOpinionOptions;
  readonly #queue = new Map<string, AlertUpdate['alert']>();
  /** Time of the last local verdict, by alert id. An alert is queued once per local verdict. */
  readonly #seen = new Map<string, string>();
  readonly #stop = new AbortController();
  readonly #inFlight = new Set<Promise<void>>();
  /** Times of the requests of the last minute, oldest first. */
  #requestTimes: number[] = [];
  #pauseMs = 0;
  #pausedUntil = 0;
  #failing: EndpointFailure | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: SecondOpinionOptions) {
    this.#options = options;
  }

  /** Receives changed alerts after the commit. */
  saw(updates: readonly AlertUpdate[]): void {
    for (const { alert } of updates) {
      if (!this.#isEligible(alert)) continue;
      this.#remember(alert);
      this.#queue.delete(alert.id);
      this.#queue.set(alert.id, alert);
      if (this.#queue.size <= limits.maxTriageQueue) continue;
      // The oldest alerts are dropped, because analysts are more likely to look at the newest.
      for (const oldest of this.#queue.keys()) {
        this.#queue.delete(oldest);
        break;
      }
      this.#options.limitReached('maxTriageQueue');
      this.#options.onOutcome('not_asked');
    }
    this.#startRequests();
  }

  /** Aborts requests in progress; queued alerts keep their local verdict. */
  async close(): Promise<void> {
    this.#queue.clear();
    clearTimeout(this.#timer);
    this.#stop.abort();
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight);
  }

  /**
   * Returns whether the alert is open and severe enough, has no analyst verdict, and has a local verdict for which the
   * alert was not queued yet.
   */
  #isEligible({ id, severity, status, verdict, ai_verdict }: AlertUpdate['alert']): boolean {
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

  #startRequests(): void {
    clearTimeout(this.#timer);
    const now = this.#options.now();
    this.#requestTimes = this.#requestTimes.filter((at) => at > now - minute && at <= now);
    for (const [id, alert] of this.#queue) {
      const waitMs = this.#waitMs(now);
      if (waitMs > 0) this.#timer = setTimeout(() => this.#startRequests(), waitMs).unref();
      // While the endpoint fails, a single request probes whether it has recovered.
      const most = this.#failing === undefined ? limits.maxTriageInFlight : 1;
      if (waitMs > 0 || this.#inFlight.size >= most) return;
      this.#queue.delete(id);
      this.#requestTimes.push(now);
      const request = this.#request(alert).finally(() => {
        this.#inFlight.delete(request);
        if (!this.#stop.signal.aborted) this.#startRequests();
      });
      this.#inFlight.add(request);
    }
  }

  #waitMs(now: number): number {
    const paused = Math.min(this.#pausedUntil - now, this.#pauseMs);
    const isFull = this.#requestTimes.length >= this.#options.maxPerMinute;
    return Math.max(paused, isFull ? this.#requestTimes[0]! + minute - now : 0);
  }

  async #request(alert: AlertUpdate['alert']): Promise<void> {
    const { endpoint, store, onOutcome, onTrouble, newMark } = this.#options;
    try {
      const { subject, redactor } = this.#subjectOf(alert);
      const result = await askEndpoint(endpoint, questionOf(subject, redactor, newMark()), this.#stop.signal);
      if (this.#stop.signal.aborted) return;
      if (result.kind === 'failed') {
        this.#failed(result.failure, result.status);
        return;
      }
      this.#pauseMs = 0;
      this.#failing = undefined;
      const { verdict, confidence, reasons } = result.answer;
      const given = {
        verdict,
        confidence,
        reasons: reasons.map((reason) => redactor.restore(reason).slice(0, maxReasonLength)),
        model: `endpoint/${endpoint.model}`,
      };
      const isSet = await store.setAiVerdict(alert.id, given, alert.ai_verdict!.at);
      onOutcome(isSet ? 'answered' : 'stale');
    } catch (error) {
      onOutcome('unstored');
      onTrouble('the verdict of the triage endpoint could not be stored', { err: error });
    }
  }

  #failed(failure: EndpointFailure, status: number | undefined): void {
    const { now, onOutcome, onTrouble } = this.#options;
    onOutcome(failure);
    // Only the first of several concurrent failures extends the pause.
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

  /** Returns the alert with context of its assets, and a redactor for the names of these assets. */
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

/** Returns the names of an asset, and the first label of each name, because texts may use either form. */
const namesOf = ({ name, hostnames }: Asset): string[] =>
  [name, ...hostnames].flatMap((full) => (full === undefined ? [] : [full, full.split('.', 1)[0]!]));
