import { type Severity, severities } from '../../contract/vocabulary.ts';
import type { Detection, Detector, DetectorCard, DropCounts, Emit, Flow } from './detector.ts';
import { AdminPairs, type AdminPairsState, type Reached, type Reaching } from './support/admin-pairs.ts';
import { flowEvents } from './support/earliest.ts';
import { adminServices } from './support/ports.ts';
import { dueOf } from './support/windows.ts';

const dayMs = 24 * 3_600_000;

export const lateralMovementThresholds = {
  /** Learning period for administration habits: a week contains the routine of each weekday. */
  learningMs: 7 * dayMs,
  /** Time during which a new host discovers its servers. In this time, only connections to many hosts are reported. */
  hostLearningMs: dayMs,
  /** Time after which unused connections are forgotten. */
  rememberedMs: 30 * dayMs,
  /** Number of hosts that use a service before it counts as public. Further users are not reported. */
  publicSources: 3,
  /** Number of hosts that a source usually reaches before it counts as an administration host. */
  adminTargets: 5,
  /** Time within which newly reached hosts are counted together. */
  burstMs: 3_600_000,
  /** Minimum hosts newly reached within `burstMs`. A single administrative task reaches fewer new hosts. */
  someTargets: 2,
  /** Minimum hosts newly reached within `burstMs` for treating the connections as a sweep of the network. */
  manyTargets: 4,
  /** Time within which new connections are reported together. */
  togetherMs: dayMs,
  /** Time after which continuing movement is reported again. */
  againMs: dayMs,
  /** Maximum sources. */
  maxSources: 5_000,
  /** Maximum pairs of target and port of one source. Each pair takes about 200 bytes. */
  maxPairsOfSource: 512,
  maxPairs: 40_000,
  /** Maximum home hosts whose first flow time is stored. */
  maxHosts: 20_000,
  /** Maximum services whose first users are stored. */
  maxServices: 10_000,
  /** Maximum connections named in a finding. */
  named: 20,
} as const;

type Thresholds = { readonly [K in keyof typeof lateralMovementThresholds]: number };

/**
 * Reports home hosts that log in to, or administer, hosts that they never reached before. The detector learns the
 * habits for a week and reports nothing in that time. Memory: at most 20 MB with all tables full; only home hosts are
 * stored, and targets are stored only if they answered.
 */
export class LateralMovementDetector implements Detector {
  readonly card: DetectorCard = {
    id: 'lateral-movement',
    version: 1,
    name: 'Lateral movement',
    category: 'Lateral movement',
    mitre: { tactics: ['TA0008'], techniques: ['T1021'] },
  };
  readonly #thresholds: Thresholds;
  readonly #pairs: AdminPairs;

  constructor(thresholds: Partial<Thresholds> = {}) {
    this.#thresholds = { ...lateralMovementThresholds, ...thresholds };
    this.#pairs = new AdminPairs(this.#thresholds);
  }

  get dropped(): DropCounts {
    return { late: 0, forgotten: this.#pairs.forgotten, stale: this.#pairs.stale };
  }

  flow(flow: Readonly<Flow>): void {
    if (!flow.srcHome) return;
    this.#pairs.saw(flow);
    if (!flow.dstHome || !flow.answered || flow.transport !== 'tcp' || !adminServices.has(flow.port)) return;
    if (flow.src !== flow.dst) this.#pairs.reached(flow);
  }

  evaluate(emit: Emit, refreshes?: boolean): void {
    for (const [src, source] of this.#pairs.takeNew(refreshes)) {
      const reached = [...source.pairs.values()].sort((a, b) => a.first - b.first || a.port - b.port);
      const { isRefreshing } = source;
      source.isRefreshing = true;
      // Earlier windows are evaluated as well, so that a late evaluation of the source loses no figures.
      for (const end of this.#moves(reached, source.evaluatedTo)) {
        this.#evaluateWindow(src, source, reached.slice(0, end), emit);
        source.evaluatedTo = reached[end - 1]!.first;
      }
      source.isRefreshing = isRefreshing;
      const isReported = this.#evaluateWindow(src, source, reached, emit);
      if (isReported || isRefreshing || source.toldRank < 0) source.evaluatedTo = reached.at(-1)!.first;
      else this.#pairs.refreshLater(src);
    }
  }

  /**
   * Returns the ends (exclusive, in `reached`) of earlier windows that must be evaluated: the pair at such an end moved
   * the window past an older pair. Omits windows that were already evaluated.
   *
   * @param reached - sorted by time
   */
  #moves(reached: readonly Reached[], evaluatedTo = Number.NEGATIVE_INFINITY): number[] {
    const { togetherMs } = this.#thresholds;
    const ends: number[] = [];
    let oldest = 0;
    for (let end = 1; end < reached.length; end++) {
      while (reached[oldest]!.first <= reached[end - 1]!.first - togetherMs) oldest++;
      const isMoving = reached[oldest]!.first <= reached[end]!.first - togetherMs;
      if (isMoving && reached[end - 1]!.first > evaluatedTo) ends.push(end);
    }
    return ends;
  }

  /**
   * Evaluates the window that ends with the last of the pairs. Returns true if it was reported.
   *
   * @param reached - sorted by time
   */
  #evaluateWindow(src: string, source: Reaching, reached: readonly Reached[], emit: Emit): boolean {
    const { learningMs, togetherMs, againMs } = this.#thresholds;
    const since = this.#pairs.start + learningMs;
    const newest = reached.at(-1)!.first;
    const isFresh = (one: Reached) =>
      one.first >= since && one.first > newest - togetherMs && !this.#pairs.isPublic(src, one);
    const fresh = reached.filter(isFresh);
    if (fresh.length === 0) return false;
    const known = new Set(reached.filter(({ first }) => first <= newest - togetherMs).map(({ dst }) => dst));
    const burst = mostWithin(fresh, this.#thresholds.burstMs);
    const severity = this.#severity(src, fresh, known.size, burst.length);
    if (severity === undefined) return false;
    const due = dueOf(source, severities.indexOf(severity), newest, againMs, fresh.length);
    if (due !== undefined) emit(this.#detection(src, fresh, known.size, burst, severity), due);
    return due !== undefined;
  }

  state(): unknown {
    return this.#pairs.state();
  }

  restore(state: unknown): void {
    this.#pairs.restore(state as AdminPairsState);
  }

  merge(state: unknown): void {
    this.#pairs.merge(state as AdminPairsState);
  }

  #severity(src: string, fresh: readonly Reached[], known: number, burst: number): Severity | undefined {
    const { adminTargets, someTargets, manyTargets, hostLearningMs } = this.#thresholds;
    // An administration host may reach as many new hosts as it usually reaches, because machines are often set up
    // several at a time.
    if (known >= adminTargets && burst <= known) return undefined;
    if (burst >= manyTargets) return known >= adminTargets ? 'medium' : 'high';
    const isNewHost = fresh.some(({ first }) => first < this.#pairs.hostSince(src, first) + hostLearningMs);
    if (isNewHost) return undefined;
    if (burst >= someTargets) return 'medium';
    return fresh.some(({ port }) => !fileServices.has(port)) ? 'low' : 'informational';
  }

  #detection(
    src: string,
    fresh: readonly Reached[],
    known: number,
    burst: readonly string[],
    severity: Severity,
  ): Detection {
    const { named, burstMs, manyTargets, someTargets, adminTargets, learningMs } = this.#thresholds;
    const targets = [...new Set(fresh.map(({ dst }) => dst))];
    const services = [...new Set(fresh.map(({ port }) => adminServices.get(port)!))].sort();
    const only = targets.length === 1 ? targets[0] : undefined;
    const port = fresh.every((one) => one.port === fresh[0]!.port) ? fresh[0]!.port : undefined;
    const whom = only ?? `${targets.length} hosts`;
    return {
      title: `Lateral movement: ${src} reaches ${whom} by ${services.join(', ')} for the first time`,
      description: `${src} connected to ${services.join(', ')} of ${whom} for the first time (new hosts within an hour: ${burst.length}). Before that, ${src} reached ${known} other hosts by administrative services. Attackers continue like this from a compromised host: find out who was logged in on ${src}, and whether a change was planned.`,
      severity,
      confidence: burst.length >= manyTargets ? 0.8 : burst.length >= someTargets ? 0.6 : 0.4,
      timestamp: fresh.at(-1)!.first,
      began: fresh[0]!.first,
      ends: {
        src_ip: src,
        ...(only === undefined ? {} : { dst_ip: only }),
        ...(port === undefined ? {} : { dst_port: port }),
        transport: 'tcp',
      },
      keyed_by: ['src_ip'],
      evidence: {
        new_targets: targets.length,
        new_connections: fresh.slice(0, named).map((one) => `${one.dst}:${one.port}`),
        services,
        most_new_targets_within_burst: burst.length,
        burst_minutes: burstMs / 60_000,
        known_targets: known,
        threshold_some_targets: someTargets,
        threshold_many_targets: manyTargets,
        threshold_admin_targets: adminTargets,
        learning_days: learningMs / dayMs,
      },
      events: flowEvents(fresh.slice(0, 10).map(({ seq }) => seq)),
    };
  }
}

/**
 * Services that programs also use without a user. First connections to these services have a lower severity, because
 * users occasionally map a new share.
 */
const fileServices: ReadonlySet<number> = new Set([135, 139, 445]);

/** Returns the largest set of targets that were reached for the first time within `burstMs`. */
function mostWithin(fresh: readonly Reached[], burstMs: number): string[] {
  let most: string[] = [];
  for (const [i, { first }] of fresh.entries()) {
    const targets = new Set<string>();
    for (let j = i; j < fresh.length && fresh[j]!.first <= first + burstMs; j++) targets.add(fresh[j]!.dst);
    if (targets.size > most.length) most = [...targets];
  }
  return most;
}
