import { type Severity, severities } from '../../contract/vocabulary.ts';
import type { Detection, Detector, DetectorCard, Emit, Flow } from './detector.ts';
import { flowEvents } from './support/earliest.ts';
import { mostFrequent } from './support/frequent.ts';
import {
  attemptsAt,
  type Guessing,
  isFollowedBySession,
  laterSession,
  mergeGuessing,
  noGuessing,
  type Session,
  similarShare,
  sizeBin,
  typicalBytes,
} from './support/guessing.ts';
import { PartedDetector, type PartedState } from './support/parted-detector.ts';
import { loginServices } from './support/ports.ts';
import { ByParts, type KeyForm, type WindowIndex } from './support/window-index.ts';
import { dueOf, type Slot, type Window, Windows } from './support/windows.ts';

export const bruteForceThresholds = {
  /** Hourly slots; a window covers one day. */
  slotMs: 3_600_000,
  slots: 24,
  /** Minimum bytes of a failed login, both directions: an aborted handshake has about 130. */
  minAttemptBytes: 400,
  /**
   * Maximum bytes of a failed login: the longest failed SSH logins at an Internet host, with six passwords
   * each, have 13,000.
   */
  maxAttemptBytes: 20_000,
  /**
   * Maximum duration of a failed login: OpenSSH disconnects clients that have not logged in after 120
   * seconds.
   */
  maxAttemptMs: 180_000,
  /** Minimum logins of one source at one service in an hour. No user mistypes a password that often. */
  attempts: 30,
  /** Like `attempts`, for services where machines log in all day. */
  machineAttempts: 200,
  /**
   * Minimum attempts of many outside sources together at one service in an hour. Attackers with thousands of
   * addresses make a few attempts with each address.
   */
  distributedAttempts: 60,
  /** Minimum outside sources for a report by `distributedAttempts`. */
  distributedSources: 5,
  /**
   * Minimum share of attempts within a fifth of the most common size. Real sessions differ in size; attempts
   * with wrong passwords do not.
   */
  similarShare: 0.6,
  /** Like `similarShare`, for services where machines log in all day. */
  machineSimilarShare: 0.8,
  /**
   * Maximum hours of the day with at least half the attempts of the busiest hour. More such hours indicate a machine's
   * routine.
   */
  routineHours: 6,
  /**
   * Learning period after the first observed login. Logins that begin in this period may be routine: they are not
   * reported where machines log in all day, and have a lower severity for a home host.
   */
  learningMs: 24 * 3_600_000,
  /**
   * A connection of an attacker with at least this many bytes, and this multiple of a typical attempt, is not
   * a failed login.
   */
  sessionBytes: 40_000,
  sessionBytesRatio: 8,
  sessionMs: 600_000,
  sessionMsRatio: 20,
  /** Minimum attempts before a session for the session to count as a guessed password. */
  attemptsBeforeSession: 20,
  /** Time after which continuing guessing is reported again. */
  againMs: 24 * 3_600_000,
  /**
   * Maximum triples of source, target and port with a home source. Outside sources have a separate limit, as they can
   * use any number of addresses.
   */
  maxInside: 2_000,
  /** Maximum triples with an outside source. */
  maxOutside: 8_000,
  /** Maximum hours of all triples with a home source, at about 600 bytes each. */
  maxInsideHours: 4_000,
  /** Maximum hours of all triples with an outside source. */
  maxOutsideHours: 12_000,
  /** Maximum pairs of target and port for outside sources. */
  maxTargets: 1_000,
  /** Maximum sources named in a finding. */
  named: 10,
} as const;

type Thresholds = { readonly [K in keyof typeof bruteForceThresholds]: number };

/** Attempts at one service of a target, from all sources. */
interface Guessed {
  attempts: number;
}

/**
 * Finds triples by port, because there are few ports, and then by both addresses. The home host is the first key,
 * because it has many peers.
 */
class ByService implements WindowIndex<Guessing> {
  readonly #from: 'inside' | 'outside';
  readonly #ports = new Map<number, ByParts<Guessing, string, string>>();

  constructor(from: 'inside' | 'outside') {
    this.#from = from;
  }

  /**
   * Returns the triples of a port: those of home sources by source and target, those of outside sources by
   * target and source.
   */
  at(port: number): ByParts<Guessing, string, string> {
    let pairs = this.#ports.get(port);
    if (pairs === undefined) {
      pairs = new ByParts(forms[this.#from](port), this.#from === 'outside');
      this.#ports.set(port, pairs);
    }
    return pairs;
  }

  get(key: string): Window<Guessing> | undefined {
    return this.at(portOf(key)).get(key);
  }

  add(key: string, window: Window<Guessing>): void {
    this.at(portOf(key)).add(key, window);
  }

  remove(window: Window<Guessing>): void {
    this.at((window.form as PortForm).port).remove(window);
  }

  clear(): void {
    this.#ports.clear();
  }
}

/** Form of the keys of one port. */
interface PortForm extends KeyForm<string, string> {
  readonly port: number;
}

const forms: Readonly<Record<'inside' | 'outside', (port: number) => PortForm>> = {
  inside: (port) => ({ port, write: (src, dst) => `${src} ${dst} ${port}`, read: endsOf }),
  outside: (port) => ({
    port,
    write: (dst, src) => `${src} ${dst} ${port}`,
    read(key) {
      const [src, dst] = endsOf(key);
      return [dst, src];
    },
  }),
};

function endsOf(key: string): [string, string] {
  const [src = '', dst = ''] = key.split(' ');
  return [src, dst];
}

const portOf = (key: string): number => Number(key.slice(key.lastIndexOf(' ') + 1));

const isForPeople = (port: number): boolean => loginServices.get(port)?.asked === 'people';

/**
 * Reports password guessing: many short, answered connections of similar size to a login service. Guessing from outside
 * makes one finding per service for all sources. A home host that guesses, and an outside source whose guessing
 * succeeded, each get a separate finding. A finding describes traffic and not a login result, because sensors report
 * only the connections. Memory: at most 14 MB, which is 16,000 hours, and about 400 bytes for each of 10,000 triples.
 */
export class BruteForceDetector extends PartedDetector implements Detector {
  readonly card: DetectorCard = {
    id: 'brute-force',
    version: 1,
    name: 'Password guessing',
    category: 'Credential access',
    mitre: { tactics: ['TA0006'], techniques: ['T1110'] },
  };
  readonly #thresholds: Thresholds;
  readonly #inside: Windows<Guessing>;
  readonly #outside: Windows<Guessing>;
  readonly #targets: Windows<Guessed>;
  readonly #insideBy = new ByService('inside');
  readonly #outsideBy = new ByService('outside');
  readonly #targetsBy = new ByParts<Guessed, number, string>({
    write: (port, dst) => `${dst} ${port}`,
    read: (key) => [portOf(key), key.slice(0, key.indexOf(' '))],
  });
  /** Minimum attempts in an hour for evaluating a single source or target. */
  readonly #fewest: number;
  /** Event time of the first observed login. */
  #start = Number.POSITIVE_INFINITY;

  constructor(thresholds: Partial<Thresholds> = {}) {
    super();
    this.#thresholds = { ...bruteForceThresholds, ...thresholds };
    const { slotMs, slots, maxInside, maxInsideHours, maxOutside, maxOutsideHours, maxTargets } = this.#thresholds;
    this.#fewest = Math.min(this.#thresholds.attempts, this.#thresholds.machineAttempts);
    const guessing = { slotMs, slots, create: noGuessing, merge: mergeGuessing };
    this.#inside = new Windows({
      ...guessing,
      maxKeys: maxInside,
      maxWeight: maxInsideHours,
      index: this.#insideBy,
    });
    this.#outside = new Windows({
      ...guessing,
      maxKeys: maxOutside,
      maxWeight: maxOutsideHours,
      index: this.#outsideBy,
    });
    this.#targets = new Windows({
      slotMs,
      slots,
      maxKeys: maxTargets,
      index: this.#targetsBy,
      create: () => ({ attempts: 0 }),
      merge: (into, from) => {
        into.attempts += from.attempts;
      },
    });
  }

  protected get parts() {
    return { inside: this.#inside, outside: this.#outside, targets: this.#targets };
  }

  flow(flow: Readonly<Flow>): void {
    if (!flow.answered || flow.transport !== 'tcp' || !loginServices.has(flow.port)) return;
    if (!flow.srcHome && !flow.dstHome) return;
    const bytes = flow.srcBytes + flow.dstBytes;
    const { minAttemptBytes, maxAttemptBytes, maxAttemptMs, sessionBytes, sessionMs } = this.#thresholds;
    if (flow.time < this.#start) this.#start = flow.time;
    const isAttempt =
      flow.isFirst && bytes >= minAttemptBytes && bytes <= maxAttemptBytes && !(flow.duration > maxAttemptMs);
    const isSession = bytes >= sessionBytes || flow.duration >= sessionMs;
    if (!isAttempt && !isSession) return;
    const { src, dst, port, srcHome, time } = flow;
    const windows = srcHome ? this.#inside : this.#outside;
    const pairs = (srcHome ? this.#insideBy : this.#outsideBy).at(port);
    const first = srcHome ? src : dst;
    const second = srcHome ? dst : src;
    const firstKey = srcHome ? flow.srcKey : flow.dstKey;
    const secondKey = srcHome ? flow.dstKey : flow.srcKey;
    // A source without failed attempts is a regular client.
    if (!isAttempt && pairs.of(first, second, firstKey, secondKey) === undefined) return;
    const guessing = windows.of(pairs, first, second, time, firstKey, secondKey);
    if (guessing === undefined) return;
    if (isAttempt) {
      attemptsAt(guessing, sizeBin(bytes), flow);
      if (!srcHome) this.#guessedAt(flow);
    } else {
      const { seq, duration } = flow;
      guessing.session = laterSession(guessing.session, { time, seq, bytes, duration });
    }
  }

  evaluate(emit: Emit, refreshes?: boolean): void {
    const outside = this.#outside.changed(refreshes);
    for (const window of this.#inside.changed(refreshes)) this.#evaluateSource(window, this.#inside, emit);
    for (const window of outside) this.#evaluateSource(window, this.#outside, emit);
    for (const window of this.#targets.changed(refreshes)) this.#evaluateTarget(window, emit);
  }

  override state(): PartedState {
    return { ...super.state(), start: this.#start };
  }

  override restore(state: PartedState): void {
    super.restore(state);
    this.#start = state.start as number;
  }

  override merge(state: PartedState): void {
    super.merge(state);
    this.#start = Math.min(this.#start, state.start as number);
  }

  #guessedAt({ dst, port, time, dstKey }: Readonly<Flow>): void {
    const guessed = this.#targets.of(this.#targetsBy, port, dst, time, undefined, dstKey);
    if (guessed !== undefined) guessed.attempts++;
  }

  /** Evaluates one source: a home host that guesses, or an outside source whose guessing succeeded. */
  #evaluateSource(window: Window<Guessing>, windows: Windows<Guessing>, emit: Emit): void {
    const { againMs, attemptsBeforeSession } = this.#thresholds;
    let attempts = 0;
    let session = false;
    for (const { value: slot } of window.slots) {
      attempts += slot.attempts;
      if (slot.session !== undefined) session = true;
    }
    const inside = windows === this.#inside;
    if (attempts < attemptsBeforeSession || !(inside || session)) return;
    const total = windows.total(window);
    const found = this.#sessionAfter(total);
    const isGuesser = this.#isGuesser(window.slots, portOf(window.key), inside);
    if (inside ? !isGuesser : found === undefined) return;
    // During the learning period, the routine of a home host looks like guessing.
    const isNew = inside && found === undefined && total.first < this.#start + this.#thresholds.learningMs;
    const severity: Severity = isNew ? 'medium' : 'high';
    const rank = severities.indexOf(severity) + (found === undefined ? 0 : 0.5);
    const due = dueOf(window, rank, total.last, againMs, total.attempts);
    if (due !== undefined) emit(this.#ofOne(window.key, total, severity, found), due);
  }

  /** Evaluates all outside sources at one service. */
  #evaluateTarget(window: Window<Guessed>, emit: Emit): void {
    const { attempts, machineAttempts, againMs } = this.#thresholds;
    // A finding is reported with the first source, and again when there are several sources.
    const rank = severities.indexOf('medium') + 0.5;
    let most = 0;
    for (const { value } of window.slots) if (value.attempts > most) most = value.attempts;
    if (most < this.#fewest) return;
    const port = window.first as number;
    const dst = window.second as string;
    if (most < (isForPeople(port) ? attempts : machineAttempts)) return;
    const since = window.newest - (this.#thresholds.slots - 1) * this.#thresholds.slotMs;
    // Evaluating all sources is expensive, so it is done only if the result may be reported.
    const isEarly = rank <= window.toldRank && window.newest < window.toldAt + againMs - this.#thresholds.slotMs;
    if (isEarly && !window.isRefreshing) return;
    const recent = this.#recentSources(window, since);
    if (!this.#isGuessed(recent, port, since)) return;
    const sources = sourcesSince(recent, since);
    const last = sources.reduce((latest, { total }) => Math.max(latest, total.last), 0);
    const tried = sources.reduce((sum, { total }) => sum + total.attempts, 0);
    const due = dueOf(window, sources.length === 1 ? rank - 0.5 : rank, last, againMs, tried);
    if (due !== undefined) emit(this.#ofTarget(dst, port, sources, last), due);
  }

  /** Returns the outside sources with slots in the window of a target; a source's own window may end at another time. */
  #recentSources({ first, second, newest }: Window<Guessed>, since: number): RecentSource[] {
    const recent: RecentSource[] = [];
    for (const window of this.#outsideBy.at(first as number).group(second as string) ?? []) {
      const slots = this.#outside.slotsTo(window, newest);
      if (slots.some(({ start }) => start >= since)) recent.push({ src: window.second as string, slots });
    }
    return recent;
  }

  #isGuessed(recent: readonly RecentSource[], port: number, since: number): boolean {
    const { distributedAttempts, distributedSources } = this.#thresholds;
    const byHour = new Map<number, { attempts: number; sources: number }>();
    for (const { slots } of recent) {
      if (this.#isGuesser(slots, port, false)) return true;
      // Where machines log in, many sources with few logins each are regular users.
      if (!isForPeople(port)) continue;
      for (const { start, value } of slots) {
        if (start < since) continue;
        const hour = byHour.get(start);
        if (hour === undefined) byHour.set(start, { attempts: value.attempts, sources: 1 });
        else {
          hour.attempts += value.attempts;
          hour.sources++;
        }
      }
    }
    for (const hour of byHour.values())
      if (hour.attempts >= distributedAttempts && hour.sources >= distributedSources) return true;
    return false;
  }

  /** Returns true if a source has many logins within an hour that are of similar size and not routine. */
  #isGuesser(slots: readonly Slot<Guessing>[], port: number, isInside: boolean): boolean {
    const thresholds = this.#thresholds;
    let most = 0;
    for (const { value } of slots) if (value.attempts > most) most = value.attempts;
    if (most < this.#fewest) return false;
    const isPeople = isForPeople(port);
    if (most < (isPeople ? thresholds.attempts : thresholds.machineAttempts)) return false;
    const total = this.#outside.total({ slots });
    if (similarShare(total) < (isPeople ? thresholds.similarShare : thresholds.machineSimilarShare)) return false;
    if (!isPeople && total.first < this.#start + thresholds.learningMs) return false;
    if (!isInside) return true;
    let alike = 0;
    for (const { value } of slots) if (value.attempts * 2 >= most) alike++;
    return alike <= thresholds.routineHours;
  }

  #sessionAfter(total: Guessing): Session | undefined {
    const { session } = total;
    if (session === undefined || session.time <= total.first) return undefined;
    if (total.attempts < this.#thresholds.attemptsBeforeSession) return undefined;
    return isFollowedBySession(total, session, this.#thresholds) ? session : undefined;
  }

  #ofOne(key: string, total: Guessing, severity: Severity, session: Session | undefined): Detection {
    const [src = '', dst = '', at = ''] = key.split(' ');
    const port = Number(at);
    const service = loginServices.get(port)!.name;
    const seen = `${src} made ${total.attempts} short connections of similar size to the ${service} service of ${dst} (port ${port}).`;
    const then =
      session === undefined
        ? 'None of them looks like a successful login.'
        : `They were followed by a connection of ${session.bytes} bytes and ${Math.round(session.duration / 1000)} seconds, too much for a failed login: a password may have been guessed.`;
    return {
      title:
        session === undefined
          ? `Password guessing: ${src} at ${service} of ${dst}`
          : `Password guessing followed by a session: ${src} at ${service} of ${dst}`,
      description: `${seen} ${then} Check the login records of ${dst}, and the programs on ${src} if ${src} is one of your hosts.`,
      severity,
      confidence: session === undefined ? 0.8 : 0.7,
      timestamp: session === undefined ? total.last : Math.max(session.time, total.first),
      began: total.first,
      ends: { src_ip: src, dst_ip: dst, dst_port: port, transport: 'tcp' },
      about: service,
      evidence: {
        service,
        ...this.#figures(total),
        ...(session === undefined
          ? {}
          : {
              session_bytes: session.bytes,
              session_seconds: Math.round(session.duration / 1000),
              session_begun: new Date(session.time).toISOString(),
            }),
      },
      events: flowEvents(session === undefined ? total.seqs : [...total.seqs.slice(0, 9), session.seq]),
    };
  }

  #ofTarget(dst: string, port: number, sources: readonly Source[], last: number): Detection {
    const service = loginServices.get(port)!.name;
    const total = noGuessing();
    for (const source of sources) mergeGuessing(total, source.total);
    const top = mostFrequent(new Map(sources.map(({ src, total }) => [src, total.attempts])), this.#thresholds.named);
    const only = sources.length === 1 ? sources[0]?.src : undefined;
    const who = only ?? `${sources.length} Internet addresses`;
    return {
      title: `Password guessing: ${who} at ${service} of ${dst}`,
      description: `Within a day ${who} made ${total.attempts} short connections of similar size to the ${service} service of ${dst} (port ${port}). None of them looks like a successful login; a session after guessing raises a separate alert. Close the service to the Internet or allow keys only, and check the login records of ${dst}.`,
      severity: 'medium',
      confidence: 0.9,
      timestamp: last,
      began: total.first,
      ends: {
        ...(only === undefined ? {} : { src_ip: only }),
        dst_ip: dst,
        dst_port: port,
        transport: 'tcp',
      },
      keyed_by: ['dst_ip'],
      about: service,
      evidence: {
        service,
        sources: sources.length,
        ...this.#figures(total),
        top_sources: top.map(([source, count]) => `${source}: ${count}`),
        threshold_distributed_attempts: this.#thresholds.distributedAttempts,
        threshold_distributed_sources: this.#thresholds.distributedSources,
      },
      events: flowEvents(total.seqs),
    };
  }

  #figures(total: Guessing) {
    return {
      attempts: total.attempts,
      similar_share: Number(similarShare(total).toFixed(3)),
      typical_bytes: typicalBytes(total),
      typical_seconds: Number((total.durations / Math.max(total.attempts, 1) / 1000).toFixed(1)),
      first_attempt: new Date(total.first).toISOString(),
      last_attempt: new Date(total.last).toISOString(),
      threshold_attempts_an_hour: this.#thresholds.attempts,
    };
  }
}

interface RecentSource {
  readonly src: string;
  readonly slots: readonly Slot<Guessing>[];
}

interface Source {
  readonly src: string;
  readonly total: Guessing;
}

/** Returns the attempts of each source since a time. */
function sourcesSince(recent: readonly RecentSource[], since: number): Source[] {
  const sources: Source[] = [];
  for (const { src, slots } of recent) {
    const total = noGuessing();
    for (const { start, value } of slots) if (start >= since) mergeGuessing(total, value);
    if (total.attempts > 0) sources.push({ src, total });
  }
  return sources;
}
