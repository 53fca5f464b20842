import type { Detector, DetectorCard, Flow, Left, Sighted, Tell } from './detector.ts';
import { addDistinct, countDistinct, type Distinct, mergeDistinct, noneDistinct } from './distinct.ts';
import { flowEvents, keepEarliest, mergeEarliest } from './earliest.ts';
import { addFrequent, type Frequent, mergeFrequent, mostFrequent } from './frequent.ts';
import { OfBlock } from './of-block.ts';
import { isGroup, isVain } from './ports.ts';
import { nothing } from './put-at.ts';
import { inOrder, valueAt, type Window, Windows, type WindowsState } from './windows.ts';

export const internetBackgroundTerms = {
  /** A day of UTC. */
  dayMs: 24 * 3_600_000,
  /** Sources in a day, before it is told that there is such noise: an address of the internet has some thousand. */
  sources: 50,
  /** Networks kept: of IPv4 the first 24 bits, of IPv6 the first 64. */
  maxNetworks: 128,
  /** Hashes by which sources are counted: an error of 4 %. */
  countedSources: 512,
  /** … targets: exact up to the size of an IPv4 network. */
  countedTargets: 257,
  /** Counters of sources and of ports, by which the most frequent are found. */
  counters: 256,
  /** Named in a finding. */
  named: 10,
} as const;

interface Noise {
  readonly sources: Distinct;
  readonly targets: Distinct;
  readonly bySource: Frequent;
  readonly byPort: Frequent;
  attempts: number;
  refused: number;
  first: number;
  last: number;
  seqs: number[];
  /** Told of this day: that there is noise, and what it came to. Part of the value, so that each day has its own. */
  told: number;
}

type Terms = { readonly [K in keyof typeof internetBackgroundTerms]: number };

/**
 * What the internet tries in vain at a home network all day: one thing a network and day, instead of one a source. It is
 * told when it begins, and then day by day with the figures of the whole, once the next has begun. At the
 * worst 60 kB a network and day, two days of 128 networks.
 */
export class InternetBackgroundDetector implements Detector {
  readonly card: DetectorCard = {
    id: 'internet-background',
    version: 1,
    name: 'Background noise of the internet',
    category: 'Reconnaissance',
    mitre: { tactics: ['TA0043'], techniques: ['T1595'] },
  };
  readonly #terms: Terms;
  readonly #networks: Windows<Noise>;
  /** `networkOf` the targets of a block. */
  readonly #networkOfBlock = new OfBlock<string>();

  constructor(terms: Partial<Terms> = {}) {
    this.#terms = { ...internetBackgroundTerms, ...terms };
    const { dayMs, maxNetworks } = this.#terms;
    this.#networks = new Windows({
      slotMs: dayMs,
      slots: 2,
      maxKeys: maxNetworks,
      create: noNoise,
      merge: (into, from) => this.#merge(into, from),
    });
  }

  get left(): Left {
    return this.#networks.left;
  }

  flow(flow: Readonly<Flow>): void {
    if (flow.srcHome || !flow.dstHome || !flow.isFirst || !isVain(flow) || isGroup(flow.dst)) return;
    const noise = this.#noiseAt(flow);
    if (noise === undefined) return;
    const { countedSources, countedTargets, counters } = this.#terms;
    addDistinct(noise.sources, flow.src, countedSources, flow.srcHash);
    addDistinct(noise.targets, flow.dst, countedTargets, flow.dstHash);
    addFrequent(noise.bySource, flow.src, counters);
    addFrequent(noise.byPort, `${flow.port}/${flow.transport}`, counters);
    noise.attempts++;
    if (flow.state === 'refused') noise.refused++;
    if (flow.time < noise.first) noise.first = flow.time;
    if (flow.time > noise.last) noise.last = flow.time;
    noise.seqs = keepEarliest(noise.seqs, flow.seq);
  }

  #noiseAt({ dst, time, block, dstPlace }: Readonly<Flow>): Noise | undefined {
    let network = this.#networkOfBlock.get(block, dstPlace);
    if (network === undefined) {
      network = networkOf(dst);
      this.#networkOfBlock.set(block, dstPlace, network);
    }
    return this.#networks.at(network, time);
  }

  judge(tell: Tell, refreshes?: boolean): void {
    for (const window of this.#networks.changed(refreshes))
      for (const { start: day, value: noise } of inOrder(window)) this.#judgeDay(window, day, noise, tell);
  }

  state(): unknown {
    return this.#networks.state();
  }

  restore(state: unknown): void {
    this.#networks.restore(state as WindowsState<Noise>);
  }

  merge(state: unknown): void {
    this.#networks.merge(state as WindowsState<Noise>);
  }

  #judgeDay(window: Window<Noise>, day: number, noise: Noise, tell: Tell): void {
    const stage = day < window.newest ? stages.over : stages.begun;
    const goesOn = noise.told > 0 || (valueAt(window, day - this.#terms.dayMs)?.told ?? 0) > 0;
    if (goesOn) window.toldRank = 0;
    const refreshes = window.isRefreshing && goesOn && day === window.newest;
    if (noise.told >= stage && !refreshes) return;
    if (stage === stages.begun && goesOn && !refreshes) return;
    const { countedSources, sources } = this.#terms;
    const count = countDistinct(noise.sources, countedSources);
    if (count < sources) return;
    if (!refreshes) noise.told = stage;
    window.toldRank = 0;
    tell(this.#sighted(window.key, day, noise, count, stage === stages.over), refreshes ? 'grown' : 'new');
  }

  #sighted(network: string, day: number, noise: Noise, sources: number, isOver: boolean): Sighted {
    const { countedTargets, countedSources, named, sources: threshold } = this.#terms;
    const targets = countDistinct(noise.targets, countedTargets);
    const only = targets === 1 ? noise.targets.names[0] : undefined;
    const ports = mostFrequent(noise.byPort, named);
    const date = new Date(day).toISOString().slice(0, 10);
    const about = isOver ? `On ${date}` : `On ${date}, so far,`;
    return {
      title: `Background noise of the internet at ${only ?? network}`,
      description: `${about} ${sources} addresses of the internet tried ports of ${only ?? network} in vain, ${noise.attempts} times in all, most often ${ports.slice(0, 3).map(([port]) => port)}. Every public address is probed like this all day. Nothing is to be done as long as no more ports answer than should; a source that stands out has an alert of its own.`,
      severity: 'informational',
      confidence: 0.9,
      timestamp: noise.last,
      began: noise.first,
      ends: only === undefined ? {} : { dst_ip: only },
      keyed_by: [],
      about: network,
      evidence: {
        network,
        day: date,
        day_is_over: isOver,
        sources,
        sources_error: sources < countedSources ? 0 : Number((1 / Math.sqrt(countedSources - 2)).toFixed(3)),
        targets,
        attempts: noise.attempts,
        refused: noise.refused,
        top_ports: ports.map(([port, count]) => `${port}: ${count}`),
        top_sources: mostFrequent(noise.bySource, named).map(([source, count]) => `${source}: ${count}`),
        threshold_sources: threshold,
      },
      events: flowEvents(noise.seqs),
    };
  }

  #merge(into: Noise, from: Noise): void {
    const { countedSources, countedTargets, counters } = this.#terms;
    mergeDistinct(into.sources, from.sources, countedSources);
    mergeDistinct(into.targets, from.targets, countedTargets);
    mergeFrequent(into.bySource, from.bySource, counters);
    mergeFrequent(into.byPort, from.byPort, counters);
    into.attempts += from.attempts;
    into.refused += from.refused;
    into.first = Math.min(into.first, from.first);
    into.last = Math.max(into.last, from.last);
    into.seqs = mergeEarliest(into.seqs, from.seqs);
    into.told = Math.max(into.told, from.told);
  }
}

/** What was told of a day. */
const stages = { nothing: 0, begun: 1, over: 2 } as const;

function noNoise(): Noise {
  return {
    sources: noneDistinct(),
    targets: noneDistinct(),
    bySource: new Map(),
    byPort: new Map(),
    attempts: 0,
    refused: 0,
    first: Number.POSITIVE_INFINITY,
    last: Number.NEGATIVE_INFINITY,
    seqs: nothing,
    told: stages.nothing,
  };
}

/** `192.0.2.0/24`, or the written groups of the first 64 bits. Canonical text. */
function networkOf(address: string): string {
  if (!address.includes(':')) return `${address.slice(0, address.lastIndexOf('.'))}.0/24`;
  const [head = ''] = address.split('::');
  return `${head.split(':').slice(0, 4).join(':')}::/64`;
}
