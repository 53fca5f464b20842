import { type Severity, severities } from '../../contract/vocabulary.ts';
import type { Detection, Detector, DetectorCard, Emit, Flow } from './detector.ts';
import { beaconDetection, strobeDetection } from './support/beacon-detection.ts';
import { asPair, type Hour, hourMs, type Pair, timesOf } from './support/beacon-pair.ts';
import { BeaconPairs, type BeaconPairsOptions } from './support/beacon-pairs.ts';
import { beaconScore, regularity } from './support/beacon-score.ts';
import { hashText } from './support/distinct-sketch.ts';
import { PartedDetector, type PartedState } from './support/parted-detector.ts';
import { Prevalence } from './support/prevalence.ts';
import { dueOf, valueAt, type Window } from './support/windows.ts';

const hourS = 3600;
/** The latest time whose seconds fit in 32 bits. */
const lastTime = (2 ** 32 - 1) * 1000;

/** Tunable thresholds. */
export const beaconing = {
  /** Ports of protocols with regular traffic: DNS, DHCP, NTP, NetBIOS, SSDP, LLMNR, mDNS. */
  ignoredPorts: new Set([53, 67, 68, 123, 137, 138, 1900, 5353, 5355]),
  /**
   * Ports where password guessing from outside is as regular as a beacon. The brute-force detector reports
   * password guessing.
   */
  guessedPorts: new Set([21, 22, 23, 25, 110, 143, 445, 465, 587, 993, 995, 1433, 2222, 3306, 3389, 5432, 5900, 6379]),
  /** Minimum IP bytes of each side: an aborted TCP handshake does not count. */
  minBytes: 160,
  /**
   * Minimum score of the intervals alone, with few connections and with many. The mean of the four subscores is not
   * selective enough: for connections of similar size at random intervals all day, the mean is about 0.55. With a dozen
   * connections, it varies by 0.2.
   */
  regular: { few: 0.9, many: 0.8, manyFrom: 40 },
  /** Hours of the evaluated day plus the hour in which the day begins, as in RITA. */
  hours: 25,
  /**
   * Minimum score, observation time and connections by severity, highest first. Only connections with the modifier
   * `rare.adds` reach the score of severity high: without the modifier, the most regular connections are those of
   * monitoring systems.
   */
  grades: [
    { severity: 'high', score: 1.02, watchedMs: 20 * hourMs, connections: 40 },
    { severity: 'medium', score: 0.9, watchedMs: 6 * hourMs, connections: 40 },
    { severity: 'low', score: 0.85, watchedMs: 2 * hourMs, connections: 12 },
  ],
  /**
   * Ports that programs are expected to poll, here for new mail. Connections to these ports are reported with the next
   * lower severity.
   */
  polledPorts: new Set([110, 143, 993, 995]),
  /** Minimum number of home hosts with outside connections before the prevalence of destinations is used. */
  prevalenceHosts: 20,
  /**
   * Shares of the home hosts that use a destination. A destination that at most `rare.share` of the hosts use is more
   * likely an attacker's; a destination that at least `common.share` of the hosts use is probably company software.
   */
  rare: { share: 0.02, adds: 0.05 },
  common: { share: 0.5, adds: -0.15 },
  /** Minimum connections per day for a strobe rather than a beacon: one per second, as in RITA. */
  strobe: 86_400,
  /** Time after which a pair is evaluated again. An evaluation takes 20 µs. */
  judgeEveryMs: hourMs,
  /** Growth factor of the number of connections at which a pair is evaluated again before `judgeEveryMs`. */
  judgeGrowth: 1.15,
  /** Time after which a continuing beacon is reported again. */
  againMs: 24 * hourMs,
  /** Connections per pair and hour that are stored with time and size, earliest first: one every 14 seconds. */
  keptPerHour: 256,
} as const;

/**
 * Maximum connections of pairs without a record, maximum records, and maximum weight of the records in numbers of 8
 * bytes. The limits are separate, so that outside sources cannot evict the pairs of home hosts.
 */
const room = {
  outbound: { connections: 2 ** 18, records: 5_000, maxWeight: 400_000 },
  others: { connections: 2 ** 16, records: 1_000, maxWeight: 70_000 },
} as const;

/**
 * Reports connections of one host to one port of another host that are as regular and as similar as connections of
 * malware that polls its C2 server. The score is `beaconScore` over the last 24 hours of the pair, or since the first
 * connection of the pair.
 *
 * Established connections with an outside address are counted. Connections from inside to outside, and between two
 * outside addresses if the home networks are not known, are reported with their full severity. Connections from outside
 * to inside (a monitor, a crawler) are reported with the next lower severity. Regular traffic between home hosts is
 * normal and not reported. For a pair with more than 256 connections in an hour, the score uses the first 256 of each
 * hour; only the histogram subscore uses all connections.
 *
 * A pair is stored as single connections until it has enough connections to evaluate, and then as a record with all its
 * connections. The score is the same in both forms. When there is no room, pairs seen in only one hour are dropped
 * before pairs seen in several hours. The score does not include dropped connections.
 *
 * Prevalence of destinations is counted from the stored pairs, and counted again after several thousand
 * connections.
 *
 * Memory: 9.2 MB for 327,680 connections of pairs with fewer than 12 connections, and 6.3 MB for the records of the
 * other pairs. The records have 470,000 numbers of 8 bytes, which is enough for 6,000 pairs seen in two hours, or 1,300
 * pairs seen in twelve hours. The longest idle pairs are dropped first.
 */
export class BeaconingDetector extends PartedDetector implements Detector {
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

  protected get parts() {
    return { outbound: this.#outbound, others: this.#others };
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

  evaluate(emit: Emit, refreshes?: boolean): void {
    for (const pairs of [this.#outbound, this.#others])
      for (const window of pairs.changed(refreshes)) {
        if (!isPairEvaluationDue(window, pairs) || !isWorth(window)) continue;
        const pair = asPair(window, pairs === this.#outbound);
        const time = pair.to * 1000;
        const detection = conclude(pair, this.#prevalence, (severity) => isNews(window, severity, time));
        if (detection === undefined) continue;
        const rank = severities.indexOf(detection.severity);
        const due = dueOf(window, rank, time, beaconing.againMs, pair.count);
        if (due !== undefined) emit(detection, due);
      }
  }

  override state(): PartedState {
    // A detector restored from this state counts prevalence again, so this detector must count again too.
    this.#prevalence.forget();
    return super.state();
  }

  override restore(state: PartedState): void {
    this.#prevalence.forget();
    super.restore(state);
  }
}

/** Zero bytes means that the count is unknown: both sides of an established connection sent something. */
const isLittle = (bytes: number): boolean => bytes > 0 && bytes < beaconing.minBytes;

const pairs = (room: Pick<BeaconPairsOptions, 'connections' | 'records' | 'maxWeight'>): BeaconPairs =>
  new BeaconPairs({
    ...room,
    hours: beaconing.hours,
    recordFrom: lowest.connections,
    keptPerHour: beaconing.keptPerHour,
  });

/**
 * Returns true if a pair has enough connections over enough time and its next evaluation is due, and records the
 * evaluation. Defers a pair with enough connections whose last evaluation is too recent.
 */
function isPairEvaluationDue(window: Window<Hour>, pairs: BeaconPairs): boolean {
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

/**
 * Returns true if the pair is a strobe, or if its intervals alone are regular enough. The rest of the score is
 * computed only in that case.
 */
function isWorth(window: Window<Hour>): boolean {
  const { few, many, manyFrom } = beaconing.regular;
  let count = 0;
  for (const { value } of window.slots) count += value.count;
  return count >= beaconing.strobe || regularity(timesOf(window)) >= (count < manyFrom ? few : many);
}

/**
 * @param mayTell - returns true if a severity would be reported; otherwise the expensive steps are skipped
 */
function conclude(pair: Pair, prevalence: Prevalence, mayTell: (severity: Severity) => boolean): Detection | undefined {
  if (pair.count >= beaconing.strobe) return strobeDetection(pair, beaconing.strobe);
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
  return beaconDetection(pair, { severity, score, threshold: lowest.score, modifier, users, hosts, share });
}

function severityOf(pair: Pair, score: number): Severity | undefined {
  const watchedMs = Math.min(pair.to - pair.first, 24 * hourS) * 1000;
  // Sums of thousandths may fall short of a bound by a rounding error.
  const grade = beaconing.grades.find(
    (g) => score >= g.score - 1e-9 && watchedMs >= g.watchedMs && pair.count >= g.connections,
  );
  const isExpected = pair.direction === 'inbound' || beaconing.polledPorts.has(pair.port);
  return grade && isExpected ? lower[grade.severity] : grade?.severity;
}

/** Returns true if `dueOf`, which also records the report, would return a reason. */
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
