import { type Severity, severities } from '../../contract/vocabulary.ts';
import { asPair, type Hour, hourMs, type Pair, timesOf } from './beacon-pair.ts';
import { BeaconPairs, type BeaconPairsState, type BeaconPairsTerms } from './beacon-pairs.ts';
import { beaconScore, regularity } from './beacon-score.ts';
import { beaconSighted, strobeSighted } from './beacon-sighted.ts';
import type { Detector, DetectorCard, Flow, Left, Sighted, Tell } from './detector.ts';
import { hashText } from './distinct-names.ts';
import { Prevalence } from './prevalence.ts';
import { dueOf, leftOf, valueAt, type Window } from './windows.ts';

const hourS = 3600;
/** Seconds up to here have 32 bits. */
const lastTime = (2 ** 32 - 1) * 1000;

/** What an analyst would turn. */
export const beaconing = {
  /** Regular by their nature: DNS, DHCP, NTP, NetBIOS names, SSDP, LLMNR, mDNS. */
  ignoredPorts: new Set([53, 67, 68, 123, 137, 138, 1900, 5353, 5355]),
  /** Where those who guess passwords from outside are as regular as a beacon, and are told as what they are. */
  guessedPorts: new Set([
    21, 22, 23, 25, 110, 143, 445, 465, 587, 993, 995, 1433, 2222, 3306, 3389, 5432, 5900, 6379,
  ]),
  /** IP bytes that each side must have sent: a TCP handshake that was broken off says nothing. */
  minBytes: 160,
  /**
   * What the intervals alone must score, with few connections and with more: the mean of the four is high also for what
   * comes by chance (about 0.55 here, and within 0.2 of it for a dozen) and is alike in size and all day.
   */
  regular: { few: 0.9, many: 0.8, manyFrom: 40 },
  /** Hours of the day that is looked at, and the one in which it begins, as RITA counts. */
  hours: 25,
  /**
   * The highest first: what the score, the time that the pair was watched for and its connections must reach. The
   * first is reached only with what `rare` adds: by itself the most regular is somebody's monitor.
   */
  grades: [
    { severity: 'high', score: 1.02, watchedMs: 20 * hourMs, connections: 40 },
    { severity: 'medium', score: 0.9, watchedMs: 6 * hourMs, connections: 40 },
    { severity: 'low', score: 0.85, watchedMs: 2 * hourMs, connections: 12 },
  ],
  /** What programs are expected to ask again and again, here for new mail, is told one grade lower. */
  polledPorts: new Set([110, 143, 993, 995]),
  /** Hosts that must talk to the outside before it is told how many of them use a destination. */
  prevalenceHosts: 20,
  /** Of the hosts: a destination of so few is more likely somebody's own, one of so many is the company's software. */
  rare: { share: 0.02, adds: 0.05 },
  common: { share: 0.5, adds: -0.15 },
  /** Connections a day that are no beacon's any more: one a second, as RITA's strobes. */
  strobe: 86_400,
  /** A pair is judged again after so much of its time, or when it has so many times the connections: it costs 20 µs. */
  judgeEveryMs: hourMs,
  judgeGrowth: 1.15,
  /** While it goes on. */
  againMs: 24 * hourMs,
  /** Connections of a pair and hour whose time and size are kept, the earliest: one in 14 seconds. */
  keptPerHour: 256,
} as const;

/**
 * Connections of pairs that have had few, records of the others, and what these may weigh in numbers of 8 bytes: an
 * outsider can't push out what comes from inside.
 */
const room = {
  outbound: { connections: 2 ** 18, records: 5_000, maxWeight: 400_000 },
  others: { connections: 2 ** 16, records: 1_000, maxWeight: 70_000 },
} as const;

interface State {
  readonly outbound: BeaconPairsState;
  readonly others: BeaconPairsState;
}

/**
 * Connections of one host to one port of another that come as regularly, and as alike, as a machine's that asks for
 * orders: `beaconScore` over the last 24 hours of the pair, or since it began where that is later.
 *
 * Counted are connections that were established and have an end outside. From inside to outside and, where our own
 * networks aren't known, between two addresses outside it is told as grave as it is; from outside to inside (a monitor,
 * a crawler) one grade lower. Regular traffic between home hosts is how networks work, and is not told. A pair with
 * hundreds of connections an hour is judged by the first 256 of each hour, its evenness by all.
 *
 * A pair is remembered by its single connections until it has as many as are judged, and then by a record, with all of
 * them: the score is the same. Where there are more pairs than room, those that came once go first, and a pair that
 * comes in one hour and another stays; of what went, the score is without it.
 *
 * How many hosts use a destination is counted of the pairs that are remembered, anew after some thousand connections.
 *
 * Memory: 327,680 connections of pairs with fewer than 12, 9.2 MB; records of the others with 470,000 numbers of 8 bytes,
 * 6.3 MB: those of 6,000 pairs that came in two hours, of 1,300 that came in twelve. Those idle longest go first.
 */
export class BeaconingDetector implements Detector {
  readonly card: DetectorCard = {
    id: 'beaconing',
    version: 2,
    name: 'Beaconing',
    category: 'command-and-control',
    mitre: { tactics: ['TA0011'], techniques: ['T1071'] },
  };
  readonly #outbound = pairs(room.outbound);
  readonly #others = pairs(room.others);
  readonly #prevalence = new Prevalence(this.#outbound.slots);

  get left(): Left {
    return leftOf(this.#outbound, this.#others);
  }

  flow(flow: Readonly<Flow>): void {
    if (!flow.answered || !flow.isFirst || (flow.srcHome && flow.dstHome)) return;
    if (isLittle(flow.srcBytes) || isLittle(flow.dstBytes)) return;
    const { port } = flow;
    if (!(port > 0) || beaconing.ignoredPorts.has(port)) return;
    if (!flow.srcHome && beaconing.guessedPorts.has(port)) return;
    const { time } = flow;
    if (!(time >= 0 && time < lastTime)) return;
    if ((flow.srcHome ? this.#outbound : this.#others).add(flow)) this.#prevalence.age++;
  }

  judge(tell: Tell, refreshes?: boolean): void {
    for (const pairs of [this.#outbound, this.#others])
      for (const window of pairs.changed(refreshes)) {
        if (!isToJudge(window, pairs) || !isWorth(window)) continue;
        const pair = asPair(window, pairs === this.#outbound);
        const time = pair.to * 1000;
        const sighted = conclude(pair, this.#prevalence, (severity) => isNews(window, severity, time));
        if (sighted === undefined) continue;
        const rank = severities.indexOf(sighted.severity);
        const due = dueOf(window, rank, time, beaconing.againMs, pair.count);
        if (due !== undefined) tell(sighted, due);
      }
  }

  state(): State {
    // What goes on from the state counts anew, and so does this.
    this.#prevalence.forget();
    return { outbound: this.#outbound.state(), others: this.#others.state() };
  }

  restore(state: State): void {
    this.#prevalence.forget();
    this.#outbound.restore(state.outbound);
    this.#others.restore(state.others);
  }

  merge(state: State): void {
    this.#outbound.merge(state.outbound);
    this.#others.merge(state.others);
  }
}

/** Nothing at all is unknown: both sides of an established connection sent something. */
const isLittle = (bytes: number): boolean => bytes > 0 && bytes < beaconing.minBytes;

const pairs = (room: Pick<BeaconPairsTerms, 'connections' | 'records' | 'maxWeight'>): BeaconPairs =>
  new BeaconPairs({
    ...room,
    hours: beaconing.hours,
    recordFrom: lowest.connections,
    keptPerHour: beaconing.keptPerHour,
  });

/** Whether there is enough, and enough that is new; notes that it was judged. */
function isToJudge(window: Window<Hour>, pairs: BeaconPairs): boolean {
  let count = 0;
  let oldest = window.newest;
  let newest = 0;
  let judgedAt = 0;
  let judgedCount = 0;
  for (const { start, value: hour } of window.slots) {
    count += hour.count;
    if (start < oldest) oldest = start;
    if (hour.newest > newest) newest = hour.newest;
    if (hour.judgedAt > judgedAt) judgedAt = hour.judgedAt;
    if (hour.judgedCount > judgedCount) judgedCount = hour.judgedCount;
  }
  if (count < lowest.connections || newest * 1000 - oldest < lowest.watchedMs) return false;
  const isOld = (newest - judgedAt) * 1000 >= beaconing.judgeEveryMs;
  if (!isOld && !window.isRefreshing && count < judgedCount * beaconing.judgeGrowth) {
    pairs.defer(window);
    return false;
  }
  for (const { value: hour } of window.slots) {
    hour.judgedAt = 0;
    hour.judgedCount = 0;
  }
  const last = valueAt(window, window.newest);
  if (last !== undefined) {
    last.judgedAt = newest;
    last.judgedCount = count;
  }
  return true;
}

/** Whether the intervals alone are regular enough: what makes up the rest of the score is looked at for such only. */
function isWorth(window: Window<Hour>): boolean {
  const { few, many, manyFrom } = beaconing.regular;
  let count = 0;
  for (const { value } of window.slots) count += value.count;
  return count >= beaconing.strobe || regularity(timesOf(window)) >= (count < manyFrom ? few : many);
}

/** @param mayTell - whether it would be told with a severity: what costs more is looked at for that only */
function conclude(
  pair: Pair,
  prevalence: Prevalence,
  mayTell: (severity: Severity) => boolean,
): Sighted | undefined {
  if (pair.count >= beaconing.strobe) return strobeSighted(pair, beaconing.strobe);
  const from = Math.max(pair.to - 24 * hourS, pair.first);
  const score = beaconScore(pair.times, pair.sizes, { from, to: pair.to }, pair.byHour);
  const { rare, prevalenceHosts } = beaconing;
  if (score === undefined) return undefined;
  const highest = severityOf(pair, score.score + rare.adds);
  if (highest === undefined || !mayTell(highest)) return undefined;
  const { hosts, users } = prevalence.of(hashText(pair.dst));
  const share = pair.direction === 'outbound' && hosts >= prevalenceHosts ? users / hosts : undefined;
  const modifier = modifierOf(share);
  const severity = severityOf(pair, score.score + modifier);
  if (severity === undefined) return undefined;
  return beaconSighted(pair, { severity, score, threshold: lowest.score, modifier, users, hosts, share });
}

function severityOf(pair: Pair, score: number): Severity | undefined {
  const watchedMs = Math.min(pair.to - pair.first, 24 * hourS) * 1000;
  // Sums of thousandths may miss a bound by a hair.
  const grade = beaconing.grades.find(
    (g) => score >= g.score - 1e-9 && watchedMs >= g.watchedMs && pair.count >= g.connections,
  );
  const isExpected = pair.direction === 'inbound' || beaconing.polledPorts.has(pair.port);
  return grade && isExpected ? lower[grade.severity] : grade?.severity;
}

/** As `dueOf`, which notes it. */
function isNews({ toldRank, toldAt, isRefreshing }: Window<Hour>, severity: Severity, time: number): boolean {
  return isRefreshing || severities.indexOf(severity) > toldRank || time >= toldAt + beaconing.againMs;
}

const lowest = beaconing.grades.at(-1)!;
const lower = { high: 'medium', medium: 'low', low: 'informational' } as const;

function modifierOf(share: number | undefined): number {
  const { rare, common } = beaconing;
  if (share === undefined) return 0;
  return share <= rare.share ? rare.adds : share >= common.share ? common.adds : 0;
}
