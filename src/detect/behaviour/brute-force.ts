import { type Severity, severities } from '../../contract/vocabulary.ts';
import type { Detector, DetectorCard, Flow, Left, Sighted, Tell } from './detector.ts';
import { flowEvents } from './earliest.ts';
import { mostFrequent } from './frequent.ts';
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
} from './guessing.ts';
import { loginServices } from './ports.ts';
import { ByParts, type KeyForm, type WindowIndex } from './window-index.ts';
import { dueOf, leftOf, type Window, Windows, type WindowsState } from './windows.ts';

export const bruteForceTerms = {
  /** Together a day, by the hour. */
  slotMs: 3_600_000,
  slots: 24,
  /** Bytes both ways of a failed login, at least: a handshake that is broken off has some 130. */
  minAttemptBytes: 400,
  /** … at most: the longest failed SSH logins of an internet host, with six passwords each, have 13,000. */
  maxAttemptBytes: 20_000,
  /** How long it lasts at most: OpenSSH hangs up on who has not logged in after 120 seconds. */
  maxAttemptMs: 180_000,
  /** Logins of one source at one service in an hour: nobody mistypes so often. */
  attempts: 30,
  /** … where machines log in all day. */
  machineAttempts: 200,
  /** Attempts of many sources outside at one service in an hour, and of how many. Guessers with thousands of addresses
   * try a few times with each. */
  distributedAttempts: 60,
  distributedSources: 5,
  /** Attempts whose sizes are within a fifth of the commonest. Work differs in size, wrong passwords don't. */
  similarShare: 0.6,
  machineSimilarShare: 0.8,
  /** Hours of the day, beside the busiest, that had at least half as many: then it is a machine's routine. */
  routineHours: 6,
  /** What begins within the first day of all may be a routine: nothing is told of it where machines log in all day, and
   * of a home host that logs in elsewhere it is less grave. */
  learningMs: 24 * 3_600_000,
  /** A guesser's session that came to this, and to so many times a typical attempt, is no failed login. */
  sessionBytes: 40_000,
  sessionBytesRatio: 8,
  sessionMs: 600_000,
  sessionMsRatio: 20,
  /** Attempts before a session means that a password was found. */
  attemptsBeforeSession: 20,
  /** What goes on is told again. */
  againMs: 24 * 3_600_000,
  /** Triples of source, target and port kept; outsiders apart, as they can come from as many addresses as they like. */
  maxInside: 2_000,
  maxOutside: 8_000,
  /** Hours of all triples, at some 600 bytes each. */
  maxInsideHours: 4_000,
  maxOutsideHours: 12_000,
  /** Targets and ports kept, of what comes from outside. */
  maxTargets: 1_000,
  /** Sources named in a finding. */
  named: 10,
} as const;

type Terms = { readonly [K in keyof typeof bruteForceTerms]: number };

/** Of one service of a target, whoever guesses. */
interface Guessed {
  attempts: number;
}

/** Triples by port, of which there are few, and by both ends: first by the one at home, which has many others. */
class ByService implements WindowIndex<Guessing> {
  readonly #from: 'inside' | 'outside';
  readonly #ports = new Map<number, ByParts<Guessing, string, string>>();

  constructor(from: 'inside' | 'outside') {
    this.#from = from;
  }

  /** From inside by source and target, from outside by target and source. */
  at(port: number): ByParts<Guessing, string, string> {
    let pairs = this.#ports.get(port);
    if (pairs === undefined) {
      pairs = new ByParts(forms[this.#from](port));
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
    this.at(portOf(window.key)).remove(window);
  }

  clear(): void {
    this.#ports.clear();
  }
}

const forms: Readonly<Record<'inside' | 'outside', (port: number) => KeyForm<string, string>>> = {
  inside: (port) => ({ write: (src, dst) => `${src} ${dst} ${port}`, read: endsOf }),
  outside: (port) => ({
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

/**
 * Somebody guesses passwords: answered connections to a service where one logs in, short, of similar size, many. What
 * comes from outside is one finding a service, whoever takes part; a home host that guesses has its own, and so has a
 * guesser who was let in. Without a sight of the logins themselves this is how it looks, not what was answered. Bounded
 * by 14 MB: 16,000 hours, and some 400 bytes for each of 10,000 triples.
 */
export class BruteForceDetector implements Detector {
  readonly card: DetectorCard = {
    id: 'brute-force',
    version: 1,
    name: 'Password guessing',
    category: 'Credential access',
    mitre: { tactics: ['TA0006'], techniques: ['T1110'] },
  };
  readonly #terms: Terms;
  readonly #inside: Windows<Guessing>;
  readonly #outside: Windows<Guessing>;
  readonly #targets: Windows<Guessed>;
  readonly #insideBy = new ByService('inside');
  readonly #outsideBy = new ByService('outside');
  readonly #targetsBy = new ByParts<Guessed, number, string>({
    write: (port, dst) => `${dst} ${port}`,
    read: (key) => [portOf(key), key.slice(0, key.indexOf(' '))],
  });
  /** Attempts in an hour, below which nothing is told of one source or target by itself. */
  readonly #fewest: number;
  /** Event time of the first login seen. */
  #start = Number.POSITIVE_INFINITY;

  constructor(terms: Partial<Terms> = {}) {
    this.#terms = { ...bruteForceTerms, ...terms };
    const { slotMs, slots, maxInside, maxInsideHours, maxOutside, maxOutsideHours, maxTargets } = this.#terms;
    this.#fewest = Math.min(this.#terms.attempts, this.#terms.machineAttempts);
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

  get left(): Left {
    return leftOf(this.#inside, this.#outside, this.#targets);
  }

  flow(flow: Readonly<Flow>): void {
    if (!flow.answered || flow.transport !== 'tcp' || !loginServices.has(flow.port)) return;
    if (!flow.srcHome && !flow.dstHome) return;
    const bytes = flow.srcBytes + flow.dstBytes;
    const { minAttemptBytes, maxAttemptBytes, maxAttemptMs, sessionBytes, sessionMs } = this.#terms;
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
    // What was never an attempt is work.
    if (!isAttempt && pairs.of(first, second) === undefined) return;
    const guessing = windows.of(pairs, first, second, time);
    if (guessing === undefined) return;
    if (isAttempt) {
      attemptsAt(guessing, sizeBin(bytes), flow);
      if (!srcHome) this.#guessedAt(dst, port, time);
    } else {
      const { seq, duration } = flow;
      guessing.session = laterSession(guessing.session, { time, seq, bytes, duration });
    }
  }

  judge(tell: Tell, refreshes?: boolean): void {
    const outside = this.#outside.changed(refreshes);
    for (const window of this.#inside.changed(refreshes)) this.#judgeOne(window, this.#inside, tell);
    for (const window of outside) this.#judgeOne(window, this.#outside, tell);
    for (const window of this.#targets.changed(refreshes)) this.#judgeTarget(window, tell);
  }

  state(): unknown {
    return {
      inside: this.#inside.state(),
      outside: this.#outside.state(),
      targets: this.#targets.state(),
      start: this.#start,
    } satisfies BruteForceState;
  }

  restore(state: unknown): void {
    const { inside, outside, targets, start } = state as BruteForceState;
    this.#inside.restore(inside);
    this.#outside.restore(outside);
    this.#targets.restore(targets);
    this.#start = start;
  }

  merge(state: unknown): void {
    const { inside, outside, targets, start } = state as BruteForceState;
    this.#inside.merge(inside);
    this.#outside.merge(outside);
    this.#targets.merge(targets);
    this.#start = Math.min(this.#start, start);
  }

  #guessedAt(dst: string, port: number, time: number): void {
    const guessed = this.#targets.of(this.#targetsBy, port, dst, time);
    if (guessed !== undefined) guessed.attempts++;
  }

  /** One source: a home host that guesses, or anybody who was let in. */
  #judgeOne(window: Window<Guessing>, windows: Windows<Guessing>, tell: Tell): void {
    const { againMs, attemptsBeforeSession } = this.#terms;
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
    const isGuesser = this.#isGuesser(window);
    if (inside ? !isGuesser : found === undefined) return;
    // A routine of a home network shows on its first day as guessing does.
    const isNew = inside && found === undefined && total.first < this.#start + this.#terms.learningMs;
    const severity: Severity = isNew ? 'medium' : 'high';
    const rank = severities.indexOf(severity) + (found === undefined ? 0 : 0.5);
    const due = dueOf(window, rank, total.last, againMs, total.attempts);
    if (due !== undefined) tell(this.#ofOne(window.key, total, severity, found), due);
  }

  /** All sources outside at one service. */
  #judgeTarget(window: Window<Guessed>, tell: Tell): void {
    const { attempts, machineAttempts, againMs } = this.#terms;
    // Twice: as soon as somebody guesses, and when it turns out to be several.
    const rank = severities.indexOf('medium') + 0.5;
    let most = 0;
    for (const { value } of window.slots) if (value.attempts > most) most = value.attempts;
    if (most < this.#fewest) return;
    const port = window.first as number;
    const dst = window.second as string;
    const isPeople = loginServices.get(port)?.asked === 'people';
    if (most < (isPeople ? attempts : machineAttempts)) return;
    const since = window.newest - (this.#terms.slots - 1) * this.#terms.slotMs;
    // Going through all sources is dear: only where something would come of it.
    const isEarly = rank <= window.toldRank && window.newest < window.toldAt + againMs - this.#terms.slotMs;
    if (isEarly && !window.isRefreshing) return;
    if (!this.#isGuessed(dst, port, isPeople, since)) return;
    const sources = this.#sourcesOf(dst, port, since);
    const last = sources.reduce((latest, { total }) => Math.max(latest, total.last), 0);
    const tried = sources.reduce((sum, { total }) => sum + total.attempts, 0);
    const due = dueOf(window, sources.length === 1 ? rank - 0.5 : rank, last, againMs, tried);
    if (due !== undefined) tell(this.#ofTarget(dst, port, sources, last), due);
  }

  /** What sources did within the window of their target: their own may end earlier. */
  #sourcesOf(dst: string, port: number, since: number): Source[] {
    const sources: Source[] = [];
    for (const [src, { slots }] of this.#outsideBy.at(port).group(dst) ?? []) {
      const total = noGuessing();
      for (const { start, value } of slots) if (start >= since) mergeGuessing(total, value);
      if (total.attempts > 0) sources.push({ src, total });
    }
    return sources;
  }

  #isGuessed(dst: string, port: number, isPeople: boolean, since: number): boolean {
    const { distributedAttempts, distributedSources } = this.#terms;
    const byHour = new Map<number, { attempts: number; sources: number }>();
    for (const window of this.#outsideBy.at(port).group(dst)?.values() ?? []) {
      if (window.newest < since) continue;
      if (this.#isGuesser(window)) return true;
      // Where machines log in, many sources with few logins each are the users.
      if (!isPeople) continue;
      for (const { start, value } of window.slots) {
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

  /** Whether one source's logins are many within an hour, alike, and no routine. */
  #isGuesser(window: Window<Guessing>): boolean {
    const terms = this.#terms;
    let most = 0;
    for (const { value } of window.slots) if (value.attempts > most) most = value.attempts;
    if (most < this.#fewest) return false;
    const isPeople = loginServices.get(portOf(window.key))?.asked === 'people';
    if (most < (isPeople ? terms.attempts : terms.machineAttempts)) return false;
    const isInside = this.#inside.peek(window.key) === window;
    const total = (isInside ? this.#inside : this.#outside).total(window);
    if (similarShare(total) < (isPeople ? terms.similarShare : terms.machineSimilarShare)) return false;
    if (!isPeople && total.first < this.#start + terms.learningMs) return false;
    if (!isInside) return true;
    let alike = 0;
    for (const { value } of window.slots) if (value.attempts * 2 >= most) alike++;
    return alike <= terms.routineHours;
  }

  #sessionAfter(total: Guessing): Session | undefined {
    const { session } = total;
    if (session === undefined || session.time <= total.first) return undefined;
    if (total.attempts < this.#terms.attemptsBeforeSession) return undefined;
    return isFollowedBySession(total, session, this.#terms) ? session : undefined;
  }

  #ofOne(key: string, total: Guessing, severity: Severity, session: Session | undefined): Sighted {
    const [src = '', dst = '', at = ''] = key.split(' ');
    const port = Number(at);
    const service = loginServices.get(port)!.name;
    const seen = `${src} made ${total.attempts} short connections of similar size to the ${service} service of ${dst} (port ${port}).`;
    const then =
      session === undefined
        ? 'None of them looks as if a password was right.'
        : `Then it had one of ${session.bytes} bytes and ${Math.round(session.duration / 1000)} seconds, which no failed login has: a password may have been found.`;
    return {
      title:
        session === undefined
          ? `Password guessing: ${src} at ${service} of ${dst}`
          : `Password guessing with a session afterwards: ${src} at ${service} of ${dst}`,
      description: `${seen} ${then} Look at the logins that ${dst} recorded, and at what runs on ${src} if it is yours.`,
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

  #ofTarget(dst: string, port: number, sources: readonly Source[], last: number): Sighted {
    const service = loginServices.get(port)!.name;
    const total = noGuessing();
    for (const source of sources) mergeGuessing(total, source.total);
    const top = mostFrequent(
      new Map(sources.map(({ src, total }) => [src, total.attempts])),
      this.#terms.named,
    );
    const only = sources.length === 1 ? sources[0]?.src : undefined;
    const who = only ?? `${sources.length} addresses of the internet`;
    return {
      title: `Password guessing: ${who} at ${service} of ${dst}`,
      description: `Within a day ${who} made ${total.attempts} short connections of similar size to the ${service} service of ${dst} (port ${port}). None looks as if a password was right; a session after guessing has an alert of its own. Close the service to the internet or allow keys only, and look at the logins that ${dst} recorded.`,
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
        threshold_distributed_attempts: this.#terms.distributedAttempts,
        threshold_distributed_sources: this.#terms.distributedSources,
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
      threshold_attempts_an_hour: this.#terms.attempts,
    };
  }
}

interface Source {
  readonly src: string;
  readonly total: Guessing;
}

interface BruteForceState {
  readonly inside: WindowsState<Guessing>;
  readonly outside: WindowsState<Guessing>;
  readonly targets: WindowsState<Guessed>;
  readonly start: number;
}
