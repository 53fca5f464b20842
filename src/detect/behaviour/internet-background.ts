import type { Detection, Detector, DetectorCard, Emit, Flow } from './detector.ts';
import {
  addToSample,
  clearSample,
  countSample,
  type DistinctSample,
  emptySample,
  mergeSamples,
} from './support/distinct-sample.ts';
import { hashText } from './support/distinct-sketch.ts';
import { flowEvents, keepEarliest } from './support/earliest.ts';
import { type Frequent, mostFrequent } from './support/frequent.ts';
import { type FrequentForm, FrequentKeys } from './support/frequent-keys.ts';
import { keyedHash } from './support/keyed-hash.ts';
import { isGroup, isVain } from './support/ports.ts';
import { nothing } from './support/put-at.ts';
import { mergeSpans, type Span } from './support/span.ts';
import { ByParts, type KeyForm } from './support/window-index.ts';
import { WindowedDetector } from './support/windowed-detector.ts';
import { inOrder, type Window, Windows } from './support/windows.ts';

export const internetBackgroundThresholds = {
  /** Length of a UTC day. */
  dayMs: 24 * 3_600_000,
  /** Minimum sources in a day. Thousands of sources probe a single Internet address. */
  sources: 50,
  /** Maximum networks. A network is the first 24 bits of an IPv4 address, or the first 64 bits of an IPv6 address. */
  maxNetworks: 128,
  /** Number of hashes for counting sources. The count has an error of 4 %. */
  countedSources: 512,
  /** Number of hashes for counting targets. The count is exact up to the size of an IPv4 /24 network. */
  countedTargets: 257,
  /** Number of counters for the most frequent sources and ports. */
  counters: 256,
  /** Maximum sources and ports named in a finding. */
  named: 10,
} as const;

interface Noise extends Span {
  readonly sources: DistinctSample;
  readonly targets: DistinctSample;
  readonly bySource: FrequentKeys<string>;
  /** Counts by the result of `portKey`. */
  readonly byPort: FrequentKeys<number>;
  attempts: number;
  refused: number;
  /** The last reported stage of this day's noise. */
  told: number;
  /** `attempts` of the last report. Absent in states of earlier versions. */
  toldAttempts?: number;
}

/** Noise as it is stored in states. */
interface NoiseState extends Omit<Noise, 'bySource' | 'byPort'> {
  readonly bySource: Frequent;
  readonly byPort: Frequent;
}

type Thresholds = { readonly [K in keyof typeof internetBackgroundThresholds]: number };

/**
 * Reports failed connections from the Internet to a home network, with one finding per network and day instead of one
 * finding per source. The first finding is reported when the noise begins. The totals of a day are reported after
 * events of the next day arrive. Memory: at most 60 kB per network and day, for two days of 128 networks.
 */
export class InternetBackgroundDetector extends WindowedDetector<Noise, NoiseState> implements Detector {
  readonly card: DetectorCard = {
    id: 'internet-background',
    version: 1,
    name: 'Internet background noise',
    category: 'Reconnaissance',
    mitre: { tactics: ['TA0043'], techniques: ['T1595'] },
  };
  readonly #thresholds: Thresholds;
  protected readonly windows: Windows<Noise, NoiseState>;
  readonly #byNetwork = new ByParts<Noise, number | string, number>(networks);

  constructor(thresholds: Partial<Thresholds> = {}) {
    super();
    this.#thresholds = { ...internetBackgroundThresholds, ...thresholds };
    const { dayMs, maxNetworks, counters } = this.#thresholds;
    this.windows = new Windows({
      slotMs: dayMs,
      slots: 2,
      maxKeys: maxNetworks,
      index: this.#byNetwork,
      create: () => noNoise(counters),
      clear: clearNoise,
      write: (noise) => ({ ...noise, bySource: noise.bySource.counts, byPort: noise.byPort.counts }),
      merge: (into, from) => this.#merge(into, from),
    });
  }

  flow(flow: Readonly<Flow>): void {
    if (flow.srcHome || !flow.dstHome || !flow.isFirst || !isVain(flow) || isGroup(flow.dst)) return;
    const noise = this.windows.of(this.#byNetwork, networkOf(flow.dst), 0, flow.time);
    if (noise === undefined) return;
    const { countedSources, countedTargets } = this.#thresholds;
    const { src, srcHash = hashText(src), srcKey = keyedHash(src) } = flow;
    addToSample(noise.sources, src, countedSources, srcHash);
    addToSample(noise.targets, flow.dst, countedTargets, flow.dstHash);
    noise.bySource.add(srcHash, srcKey, src);
    const port = portKey(flow.port, flow.transport);
    noise.byPort.add(port, keyedHash(port), port);
    noise.attempts++;
    if (flow.state === 'refused') noise.refused++;
    if (flow.time < noise.first) noise.first = flow.time;
    if (flow.time > noise.last) noise.last = flow.time;
    noise.seqs = keepEarliest(noise.seqs, flow.seq);
  }

  evaluate(emit: Emit, refreshes?: boolean): void {
    for (const window of this.windows.changed(refreshes)) {
      let isReported = false;
      // The alert shows the figures of the last report. After a report of an earlier day, the later day is therefore
      // reported again.
      for (const { start: day, value: noise } of inOrder(window))
        isReported = this.#evaluateDay(window, day, noise, emit, isReported);
    }
  }

  /**
   * Reports the noise of a day that has enough sources. The noise is reported if its next stage is due, if a refresh
   * finds a changed number of attempts, or if `isOwed` is true. Returns true if the noise was reported.
   */
  #evaluateDay(window: Window<Noise>, day: number, noise: Noise, emit: Emit, isOwed: boolean): boolean {
    const isOver = day < window.newest;
    const stage = isOver ? stages.over : stages.begun;
    // With late events, the next day may have been reported before this day.
    const goesOn = window.toldAt >= day - this.#thresholds.dayMs;
    if (goesOn) window.toldRank = 0;
    const isDue = noise.told < stage && (isOver || !goesOn);
    const hasGrown = goesOn && window.isRefreshing && noise.attempts !== noise.toldAttempts;
    if (!(isDue || hasGrown || isOwed)) return false;
    const { countedSources, sources } = this.#thresholds;
    const count = countSample(noise.sources, countedSources);
    if (count < sources) return false;
    // Late events may bring a past day to the threshold after the next day began. The beginning of its noise is then
    // reported first, as for any other day.
    if (isDue && isOver && !goesOn) emit(this.#detection(window.key, day, noise, count, false));
    emit(this.#detection(window.key, day, noise, count, isOver), isDue ? 'new' : 'grown');
    if (isDue) noise.told = stage;
    noise.toldAttempts = noise.attempts;
    window.toldAt = Math.max(window.toldAt, day);
    window.toldRank = 0;
    return true;
  }

  #detection(network: string, day: number, noise: Noise, sources: number, isOver: boolean): Detection {
    const { countedTargets, countedSources, named, sources: threshold } = this.#thresholds;
    const targets = countSample(noise.targets, countedTargets);
    const only = targets === 1 ? noise.targets.names[0] : undefined;
    const ports = mostFrequent(noise.byPort.counts, named);
    const date = new Date(day).toISOString().slice(0, 10);
    const about = isOver ? `On ${date}` : `On ${date}, so far,`;
    return {
      title: `Internet background noise at ${only ?? network}`,
      description: `${about} ${sources} Internet addresses tried ports of ${only ?? network} without success, ${noise.attempts} times in total, most often ${ports.slice(0, 3).map(([port]) => port)}. Every public address is probed like this all day. No action is needed if only the intended ports answer. A source that stands out raises a separate alert.`,
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
        top_sources: mostFrequent(noise.bySource.counts, named).map(([source, count]) => `${source}: ${count}`),
        threshold_sources: threshold,
      },
      events: flowEvents(noise.seqs),
    };
  }

  #merge(into: Noise, from: NoiseState): void {
    const { countedSources, countedTargets } = this.#thresholds;
    mergeSamples(into.sources, from.sources, countedSources);
    mergeSamples(into.targets, from.targets, countedTargets);
    into.bySource.merge(from.bySource);
    into.byPort.merge(from.byPort);
    into.attempts += from.attempts;
    into.refused += from.refused;
    mergeSpans(into, from);
    into.told = Math.max(into.told, from.told);
    into.toldAttempts = Math.max(into.toldAttempts ?? 0, from.toldAttempts ?? 0);
  }
}

/** Stages of a day's report. */
const stages = { nothing: 0, begun: 1, over: 2 } as const;

function noNoise(counters: number): Noise {
  return {
    sources: emptySample(),
    targets: emptySample(),
    bySource: new FrequentKeys(counters, sources),
    byPort: new FrequentKeys(counters, ports),
    attempts: 0,
    refused: 0,
    first: Number.POSITIVE_INFINITY,
    last: Number.NEGATIVE_INFINITY,
    seqs: nothing,
    told: stages.nothing,
  };
}

function clearNoise(noise: Noise): void {
  clearSample(noise.sources);
  clearSample(noise.targets);
  noise.bySource.clear();
  noise.byPort.clear();
  noise.attempts = 0;
  noise.refused = 0;
  noise.first = Number.POSITIVE_INFINITY;
  noise.last = Number.NEGATIVE_INFINITY;
  noise.seqs = nothing;
  noise.told = stages.nothing;
  if (noise.toldAttempts !== undefined) delete noise.toldAttempts;
}

const sources: FrequentForm<string> = {
  write: (source) => source,
  read: (source) => [hashText(source), keyedHash(source), source],
};

/** Only ports of TCP and UDP are counted. */
const portKey = (port: number, transport: string): number => 2 * port + (transport === 'udp' ? 1 : 0);

const ports: FrequentForm<number> = {
  write: (key) => `${key >> 1}/${key % 2 === 1 ? 'udp' : 'tcp'}`,
  read(text) {
    const [port, transport = ''] = text.split('/');
    const key = portKey(Number(port), transport);
    return [key, keyedHash(key), key];
  },
};

/** An IPv4 network is a number of 24 bits; an IPv6 network is a text. */
const networks: KeyForm<number | string, number> = {
  write: (network) =>
    typeof network === 'string' ? network : `${network >> 16}.${(network >> 8) & 0xff}.${network & 0xff}.0/24`,
  read: (key) => [networkOf(key), 0],
};

/** Returns the /24 of an IPv4 address, or the /64 of an IPv6 address, with its groups as in the canonical text. */
function networkOf(address: string): number | string {
  let network = 0;
  let part = 0;
  let parts = 0;
  for (let i = 0; parts < 3; i++) {
    const code = address.charCodeAt(i);
    if (code === 46) {
      network = 256 * network + part;
      part = 0;
      parts++;
    } else if (code >= 48 && code <= 57) part = 10 * part + code - 48;
    else return networkOfIpv6(address);
  }
  return network;
}

function networkOfIpv6(address: string): string {
  const [head = ''] = address.split('::');
  return `${head.split(':').slice(0, 4).join(':')}::/64`;
}
