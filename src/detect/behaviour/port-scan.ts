import { type Severity, severities } from '../../contract/vocabulary.ts';
import { durationText } from '../../duration.ts';
import type { Detection, Detector, DetectorCard, Emit, Flow } from './detector.ts';
import { flowEvents, keepEarliest } from './support/earliest.ts';
import { PartedDetector, type PartedState } from './support/parted-detector.ts';
import { addPort, lowestPorts, mergePorts, noPorts, type PortSet, portsWeight } from './support/port-set.ts';
import { isGroup, isVain } from './support/ports.ts';
import { nothing } from './support/put-at.ts';
import { mergeSpans, type Span } from './support/span.ts';
import { ByParts, twoWords, twoWordsTurned, type WindowIndex } from './support/window-index.ts';
import { dueOf, type Window, Windows } from './support/windows.ts';

export const portScanThresholds = {
  /** Length of a slot. The slots of a window cover one day, so that a scan of one port per hour is detected. */
  slotMs: 4 * 3_600_000,
  slots: 6,
  /**
   * Minimum failed ports for a home source. A host that looks for one service tries a handful; a quick scan
   * of the 100 most common ports tries five times this limit.
   */
  insidePorts: 20,
  /** Minimum failed ports for the higher severity of a home source: no harmless software tries that many. */
  insideManyPorts: 100,
  /**
   * Minimum failed ports for a separate finding about an outside source. Among 14,991 sources that reached an
   * Internet host in three days, 29 tried more than 100 ports in a day, and 7 tried more than 300; the other sources
   * are background noise.
   */
  outsidePorts: 300,
  /** Minimum failed ports for a finding about an outside source that then used a port that answered. */
  outsideUsedPorts: 100,
  /** Minimum bytes in each direction of a used port: an aborted handshake has about 100. */
  usedBytes: 300,
  /**
   * Minimum failed ports of a source within a slot before its answered ports are recorded too. Most sources are regular
   * clients.
   */
  watchedFrom: 3,
  /**
   * Minimum share of failed ports among the ports tried. A host whose connections are mostly answered is a regular
   * client.
   */
  vainShare: 0.5,
  /** Time after which a continuing scan is reported again. */
  againMs: 24 * 3_600_000,
  /** Maximum pairs of source and target with a home source. */
  maxInside: 4_000,
  /**
   * Maximum pairs with an outside source. Outside sources have a separate limit, because attackers can forge any number
   * of addresses.
   */
  maxOutside: 8_000,
  /** Maximum bytes of the slots of home sources. */
  maxInsideBytes: 5 * 2 ** 20,
  /** Maximum bytes of the slots of outside sources. */
  maxOutsideBytes: 8 * 2 ** 20,
  /** Maximum ports named in a finding. */
  namedPorts: 20,
} as const;

interface Tried extends Span {
  readonly vain: PortSet;
  /** Ports that answered; undefined in the usual case of no answers. */
  answered: PortSet | undefined;
  attempts: number;
  /** The latest answered connection with data both ways. */
  used: { time: number; seq: number; port: number; srcBytes: number; dstBytes: number } | undefined;
}

type Thresholds = { readonly [K in keyof typeof portScanThresholds]: number };

/**
 * Reports sources that try many ports of one target, most of them without success. The severity is higher if the
 * source then uses a port that it found. Memory: at most 13 MB of slots, and about 250 bytes for each of 12,000
 * pairs.
 */
export class PortScanDetector extends PartedDetector implements Detector {
  readonly card: DetectorCard = {
    id: 'port-scan',
    version: 1,
    name: 'Port scan',
    category: 'Reconnaissance',
    mitre: { tactics: ['TA0007', 'TA0043'], techniques: ['T1046', 'T1595.001'] },
  };
  readonly #thresholds: Thresholds;
  readonly #inside: Windows<Tried>;
  readonly #outside: Windows<Tried>;
  // Both indexes find windows by the home host first, then by the other address.
  readonly #insideBy = new ByParts<Tried, string, string>(twoWords);
  readonly #outsideBy = new ByParts<Tried, string, string>(twoWordsTurned);
  /** Sources whose answered ports are recorded; cleared when the set is full. */
  readonly #watched = new Set<string>();

  constructor(thresholds: Partial<Thresholds> = {}) {
    super();
    this.#thresholds = { ...portScanThresholds, ...thresholds };
    const { maxInside, maxInsideBytes, maxOutside, maxOutsideBytes } = this.#thresholds;
    this.#inside = this.#windows(maxInside, maxInsideBytes, this.#insideBy);
    this.#outside = this.#windows(maxOutside, maxOutsideBytes, this.#outsideBy);
  }

  protected get parts() {
    return { inside: this.#inside, outside: this.#outside };
  }

  flow(flow: Readonly<Flow>): void {
    if (!flow.srcHome && !flow.dstHome) return;
    if (flow.answered) this.#answer(flow);
    else if (isVain(flow)) this.#vain(flow);
  }

  evaluate(emit: Emit, refreshes?: boolean): void {
    for (const windows of [this.#inside, this.#outside]) {
      for (const window of windows.changed(refreshes)) {
        if (!this.#isWorthAdding(window, windows === this.#inside)) continue;
        const known = windows.total(window);
        const severity = this.#severity(known, windows === this.#inside);
        if (severity === undefined) continue;
        const rank = severities.indexOf(severity);
        const due = dueOf(window, rank, known.last, this.#thresholds.againMs, known.vain.size);
        if (due !== undefined) emit(this.#detection(window.key, known, severity, windows === this.#inside), due);
      }
    }
  }

  override restore(state: PartedState): void {
    super.restore(state);
    this.#watched.clear();
    this.#watchAll();
  }

  override merge(state: PartedState): void {
    super.merge(state);
    this.#watchAll();
  }

  #vain(flow: Readonly<Flow>): void {
    if (isGroup(flow.dst)) return;
    const { src, dst, time, srcKey, dstKey } = flow;
    const tried = flow.srcHome
      ? this.#inside.of(this.#insideBy, src, dst, time, srcKey, dstKey)
      : this.#outside.of(this.#outsideBy, dst, src, time, dstKey, srcKey);
    if (tried === undefined) return;
    addPort(tried.vain, flow.port);
    if (tried.vain.size >= this.#thresholds.watchedFrom) this.#watch(flow.src);
    tried.attempts++;
    if (flow.time < tried.first) tried.first = flow.time;
    if (flow.time > tried.last) tried.last = flow.time;
    tried.seqs = keepEarliest(tried.seqs, flow.seq);
  }

  #watch(src: string): void {
    if (this.#watched.size >= this.#thresholds.maxInside + this.#thresholds.maxOutside) this.#watched.clear();
    this.#watched.add(src);
  }

  #watchAll(): void {
    for (const windows of [this.#inside, this.#outside])
      for (const { key, slots } of windows.all())
        for (const { value } of slots)
          if (value.vain.size >= this.#thresholds.watchedFrom) this.#watch(key.slice(0, key.indexOf(' ')));
  }

  #answer(flow: Readonly<Flow>): void {
    if (!(flow.port >= 0) || flow.transport !== 'tcp') return;
    const { src, dst, srcKey, dstKey } = flow;
    const window = flow.srcHome
      ? this.#insideBy.of(src, dst, srcKey, dstKey)
      : this.#outsideBy.of(dst, src, dstKey, srcKey);
    if (window === undefined || !this.#watched.has(src)) return;
    const tried = (flow.srcHome ? this.#inside : this.#outside).in(window, flow.time);
    if (tried === undefined) return;
    tried.answered ??= noPorts();
    addPort(tried.answered, flow.port);
    if (flow.time > tried.last) tried.last = flow.time;
    const { usedBytes } = this.#thresholds;
    if (!(flow.srcBytes >= usedBytes && flow.dstBytes >= usedBytes)) return;
    const { time, seq, port, srcBytes, dstBytes } = flow;
    tried.used = later(tried.used, { time, seq, port, srcBytes, dstBytes });
  }

  /** Returns whether the result may be reported. Only then are the slots added up, which is the most expensive step. */
  #isWorthAdding({ slots, newest, toldAt, toldRank, isRefreshing }: Window<Tried>, inside: boolean): boolean {
    const { insidePorts, insideManyPorts, outsidePorts, outsideUsedPorts, slotMs, againMs } = this.#thresholds;
    let ports = 0;
    let isUsed = false;
    for (const { value } of slots) {
      ports += value.vain.size;
      if (value.used !== undefined) isUsed = true;
    }
    if (ports < (inside ? insidePorts : isUsed ? Math.min(outsideUsedPorts, outsidePorts) : outsidePorts)) return false;
    const gravest: Severity = inside
      ? isUsed || ports >= insideManyPorts
        ? 'high'
        : 'medium'
      : isUsed
        ? 'medium'
        : 'low';
    return isRefreshing || severities.indexOf(gravest) > toldRank || newest + slotMs >= toldAt + againMs;
  }

  #severity({ vain, answered, first, used }: Tried, inside: boolean): Severity | undefined {
    const { insidePorts, insideManyPorts, outsidePorts, outsideUsedPorts, vainShare } = this.#thresholds;
    if (vain.size < (vain.size + (answered?.size ?? 0)) * vainShare) return undefined;
    const found = used !== undefined && used.time > first;
    if (inside) {
      if (vain.size < insidePorts) return undefined;
      return found || vain.size >= insideManyPorts ? 'high' : 'medium';
    }
    if (found && vain.size >= outsideUsedPorts) return 'medium';
    return vain.size >= outsidePorts ? 'low' : undefined;
  }

  #detection(key: string, known: Tried, severity: Severity, inside: boolean): Detection {
    const [src = '', dst = ''] = key.split(' ');
    const { vain, answered = empty, attempts, first, last, used } = known;
    const { insidePorts, outsidePorts, outsideUsedPorts, namedPorts, slotMs, slots } = this.#thresholds;
    const found = used !== undefined && used.time > first ? used : undefined;
    const seen = `${src} tried ${vain.size} ports of ${dst} without success within ${durationText(last - first)}; ${answered.size === 0 ? 'none' : answered.size} answered.`;
    const then = found && ` It then exchanged data with port ${found.port}, which had answered.`;
    const next = inside
      ? 'An internal host that scans another is compromised, or is used for a test of the network: find out who was using it.'
      : answered.size === 0
        ? 'An outside source looks for open ports and has found none so far.'
        : 'An outside source looks for open ports: check that those that answered are meant to be open, and what was done there.';
    return {
      title: `Port scan: ${src} tried ${vain.size} ports of ${dst}`,
      description: `${seen}${then ?? ''} ${next}`,
      severity,
      confidence: vain.size >= 2 * (inside ? insidePorts : outsidePorts) ? 0.95 : 0.8,
      timestamp: last,
      began: first,
      ends: { src_ip: src, dst_ip: dst },
      evidence: {
        ports_in_vain: vain.size,
        ports_answered: answered.size,
        attempts_in_vain: attempts,
        lowest_ports: lowestPorts(vain, namedPorts),
        answered_ports: lowestPorts(answered, namedPorts),
        first_attempt: new Date(first).toISOString(),
        duration_minutes: Math.round((last - first) / 60_000),
        window_hours: (slotMs * slots) / 3_600_000,
        threshold_ports: inside ? insidePorts : found === undefined ? outsidePorts : outsideUsedPorts,
        ...(found === undefined
          ? {}
          : { used_port: found.port, used_src_bytes: found.srcBytes, used_dst_bytes: found.dstBytes }),
      },
      events: flowEvents(found === undefined ? known.seqs : [...known.seqs.slice(0, 9), found.seq]),
    };
  }

  #windows(maxKeys: number, maxWeight: number, index: WindowIndex<Tried>): Windows<Tried> {
    const { slotMs, slots } = this.#thresholds;
    const weigh = (tried: Tried) => emptyBytes + portsWeight(tried.vain) + portsWeight(tried.answered ?? empty);
    const thresholds = { slotMs, slots, maxKeys, maxWeight, weigh, index };
    return new Windows({ ...thresholds, create: noneTried, merge: mergeTried });
  }
}

const empty = noPorts();

/** Measured size in bytes of a slot without its ports. */
const emptyBytes = 400;

function noneTried(): Tried {
  return {
    vain: noPorts(),
    answered: undefined,
    attempts: 0,
    first: Number.POSITIVE_INFINITY,
    last: Number.NEGATIVE_INFINITY,
    used: undefined,
    seqs: nothing,
  };
}

function mergeTried(into: Tried, from: Tried): void {
  mergePorts(into.vain, from.vain);
  if (from.answered !== undefined) {
    into.answered ??= noPorts();
    mergePorts(into.answered, from.answered);
  }
  into.attempts += from.attempts;
  if (from.used !== undefined) into.used = later(into.used, from.used);
  mergeSpans(into, from);
}

function later(one: Tried['used'], other: NonNullable<Tried['used']>): NonNullable<Tried['used']> {
  if (one === undefined || other.time > one.time) return other;
  return other.time === one.time && other.seq > one.seq ? other : one;
}
