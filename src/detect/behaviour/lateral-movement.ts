import { type Severity, severities } from '../../contract/vocabulary.ts';
import { AdminPairs, type AdminPairsState, type Reached } from './admin-pairs.ts';
import type { Detector, DetectorCard, Flow, Left, Sighted, Tell } from './detector.ts';
import { flowEvents } from './earliest.ts';
import { adminServices } from './ports.ts';
import { dueOf } from './windows.ts';

const dayMs = 24 * 3_600_000;

export const lateralMovementTerms = {
  /** Who administers whom is learnt first: a week has each day's routine. */
  learningMs: 7 * dayMs,
  /** A host that is new to the network finds its servers; what it reaches then is told only if it is many. */
  hostLearningMs: dayMs,
  /** What was not used so long counts as never. */
  rememberedMs: 30 * dayMs,
  /** Other hosts that use a service: then it is a service for all, and whoever comes next is no news. */
  publicSources: 3,
  /** Hosts that one reaches by habit: then it is an administrator's, or a machine that manages others. */
  adminTargets: 5,
  /** New hosts are counted together within so long. */
  burstMs: 3_600_000,
  /** Hosts newly reached within it that are more than one errand, and those that are a walk through the network. */
  someTargets: 2,
  manyTargets: 4,
  /** New connections that are told together. */
  togetherMs: dayMs,
  /** What goes on is told again. */
  againMs: dayMs,
  /** Hosts that reach others, what one of them reaches, and what all reach: some 200 bytes each. */
  maxSources: 5_000,
  maxPairsOfSource: 512,
  maxPairs: 40_000,
  /** Home hosts of which it is known since when they are there. */
  maxHosts: 20_000,
  /** Services of which it is known who used them first. */
  maxServices: 10_000,
  /** Named in a finding. */
  named: 20,
} as const;

type Terms = { readonly [K in keyof typeof lateralMovementTerms]: number };

/**
 * A home host logs in, or reaches for a hand, at others where it never did. Learns who does for a week, and tells of
 * nothing meanwhile. Bounded by 20 MB when all its tables are full; only home hosts that were answered get in.
 */
export class LateralMovementDetector implements Detector {
  readonly card: DetectorCard = {
    id: 'lateral-movement',
    version: 1,
    name: 'Lateral movement',
    category: 'Lateral movement',
    mitre: { tactics: ['TA0008'], techniques: ['T1021'] },
  };
  readonly #terms: Terms;
  readonly #pairs: AdminPairs;

  constructor(terms: Partial<Terms> = {}) {
    this.#terms = { ...lateralMovementTerms, ...terms };
    this.#pairs = new AdminPairs(this.#terms);
  }

  get left(): Left {
    return { late: 0, forgotten: this.#pairs.forgotten, stale: this.#pairs.stale };
  }

  flow(flow: Readonly<Flow>): void {
    if (!flow.srcHome) return;
    this.#pairs.saw(flow);
    if (!flow.dstHome || !flow.answered || flow.transport !== 'tcp' || !adminServices.has(flow.port)) return;
    if (flow.src !== flow.dst) this.#pairs.reached(flow);
  }

  judge(tell: Tell, refreshes?: boolean): void {
    const { learningMs, togetherMs, againMs } = this.#terms;
    for (const [src, source] of this.#pairs.takeNew(refreshes)) {
      const since = this.#pairs.start + learningMs;
      const reached = [...source.pairs.values()].sort((a, b) => a.first - b.first || a.port - b.port);
      const newest = reached.at(-1)!.first;
      const isFresh = (one: Reached) =>
        one.first >= since && one.first > newest - togetherMs && !this.#pairs.isPublic(src, one);
      const fresh = reached.filter(isFresh);
      if (fresh.length === 0) continue;
      const known = new Set(
        reached.filter(({ first }) => first <= newest - togetherMs).map(({ dst }) => dst),
      );
      const burst = mostWithin(fresh, this.#terms.burstMs);
      const severity = this.#severity(src, fresh, known.size, burst.length);
      if (severity === undefined) continue;
      const due = dueOf(source, severities.indexOf(severity), newest, againMs, fresh.length);
      if (due !== undefined) tell(this.#sighted(src, fresh, known.size, burst, severity), due);
    }
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
    const { adminTargets, someTargets, manyTargets, hostLearningMs } = this.#terms;
    // Who reaches others by habit may reach as many again: new machines are set up together.
    if (known >= adminTargets && burst <= known) return undefined;
    if (burst >= manyTargets) return known >= adminTargets ? 'medium' : 'high';
    const isNewHost = fresh.some(({ first }) => first < this.#pairs.hostSince(src, first) + hostLearningMs);
    if (isNewHost) return undefined;
    if (burst >= someTargets) return 'medium';
    return fresh.some(({ port }) => !fileServices.has(port)) ? 'low' : 'informational';
  }

  #sighted(
    src: string,
    fresh: readonly Reached[],
    known: number,
    burst: readonly string[],
    severity: Severity,
  ): Sighted {
    const { named, burstMs, manyTargets, someTargets, adminTargets, learningMs } = this.#terms;
    const targets = [...new Set(fresh.map(({ dst }) => dst))];
    const services = [...new Set(fresh.map(({ port }) => adminServices.get(port)!))].sort();
    const only = targets.length === 1 ? targets[0] : undefined;
    const port = fresh.every((one) => one.port === fresh[0]!.port) ? fresh[0]!.port : undefined;
    const whom = only ?? `${targets.length} hosts`;
    return {
      title: `Lateral movement: ${src} newly reaches ${whom} by ${services.join(', ')}`,
      description: `${src} was answered at ${services.join(', ')} of ${whom}, where it was never seen before, of ${burst.length} of them within an hour. It is known to reach ${known} others this way. Somebody who took over a host goes on like this: find out who was logged in on ${src}, and whether a change was planned.`,
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

/** Used without anybody sitting there: a new share is mapped now and then. */
const fileServices: ReadonlySet<number> = new Set([135, 139, 445]);

/** The largest set of different targets that were reached first within so long. */
function mostWithin(fresh: readonly Reached[], burstMs: number): string[] {
  let most: string[] = [];
  for (const [i, { first }] of fresh.entries()) {
    const targets = new Set<string>();
    for (let j = i; j < fresh.length && fresh[j]!.first <= first + burstMs; j++) targets.add(fresh[j]!.dst);
    if (targets.size > most.length) most = [...targets];
  }
  return most;
}
