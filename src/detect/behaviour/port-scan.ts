import { type Severity, severities } from '../../contract/vocabulary.ts';
import type { Detector, DetectorCard, Flow, Left, Sighted, Tell } from './detector.ts';
import { hashText } from './distinct-names.ts';
import { flowEvents, keepEarliest, mergeEarliest } from './earliest.ts';
import { addPort, lowestPorts, mergePorts, noPorts, type PortSet, portsWeight } from './port-set.ts';
import { isGroup, isVain } from './ports.ts';
import { nothing } from './put-at.ts';
import { ByParts, twoWords, twoWordsTurned, type WindowIndex } from './window-index.ts';
import { dueOf, leftOf, type Window, Windows, type WindowsState } from './windows.ts';

export const portScanTerms = {
  /** Together a day: a scan that tries a port every hour still shows. */
  slotMs: 4 * 3_600_000,
  slots: 6,
  /** Ports that a home host tries in vain. One that looks for a service tries a handful; the hundred usual ones of a
   * quick scan are five times that. */
  insidePorts: 20,
  /** From here on there is no other reading of it. */
  insideManyPorts: 100,
  /** Ports that somebody outside tries in vain, before he gets a finding of his own. Of 14,991 sources that reached an
   * internet host in three days 29 tried more than 100, and 7 more than 300 in a day; the rest is background. */
  outsidePorts: 300,
  /** … if he then used a port that answered. */
  outsideUsedPorts: 100,
  /** Bytes each way by which a port was used: a handshake that is broken off has some 100. */
  usedBytes: 300,
  /** Ports in vain within a slot, from which on it is noted what else a source is answered: most only ever talk. */
  watchedFrom: 3,
  /** Of the ports tried, those in vain. Who gets answers nearly everywhere is at home there. */
  vainShare: 0.5,
  /** What goes on is told again. */
  againMs: 24 * 3_600_000,
  /** Pairs of source and target kept. Outsiders can forge as many as they like, and must not drive out insiders. */
  maxInside: 4_000,
  maxOutside: 8_000,
  /** Bytes of their slots, at most. */
  maxInsideBytes: 5 * 2 ** 20,
  maxOutsideBytes: 8 * 2 ** 20,
  /** Ports named in a finding. */
  namedPorts: 20,
} as const;

interface Tried {
  readonly vain: PortSet;
  /** Undefined where nothing was answered, which is most. */
  answered: PortSet | undefined;
  attempts: number;
  first: number;
  last: number;
  /** The latest answered connection with data both ways. */
  used: { time: number; seq: number; port: number; srcBytes: number; dstBytes: number } | undefined;
  seqs: number[];
}

type Terms = { readonly [K in keyof typeof portScanTerms]: number };

/**
 * One source tries many ports of one target, mostly in vain; graver when it then uses one that it found. Bounded by
 * 13 MB of slots, and some 250 bytes for each of 12,000 pairs.
 */
export class PortScanDetector implements Detector {
  readonly card: DetectorCard = {
    id: 'port-scan',
    version: 1,
    name: 'Port scan',
    category: 'Reconnaissance',
    mitre: { tactics: ['TA0007', 'TA0043'], techniques: ['T1046', 'T1595.001'] },
  };
  readonly #terms: Terms;
  readonly #inside: Windows<Tried>;
  readonly #outside: Windows<Tried>;
  /** By the home host, and the other end. */
  readonly #insideBy = new ByParts<Tried, string, string>(twoWords, true);
  readonly #outsideBy = new ByParts<Tried, string, string>(twoWordsTurned, true);
  /** Sources whose answers are noted; found out anew when there are too many. */
  readonly #watched = new Set<string>();

  constructor(terms: Partial<Terms> = {}) {
    this.#terms = { ...portScanTerms, ...terms };
    const { maxInside, maxInsideBytes, maxOutside, maxOutsideBytes } = this.#terms;
    this.#inside = this.#windows(maxInside, maxInsideBytes, this.#insideBy);
    this.#outside = this.#windows(maxOutside, maxOutsideBytes, this.#outsideBy);
  }

  get left(): Left {
    return leftOf(this.#inside, this.#outside);
  }

  flow(flow: Readonly<Flow>): void {
    if (!flow.srcHome && !flow.dstHome) return;
    if (flow.answered) this.#answer(flow);
    else if (isVain(flow)) this.#vain(flow);
  }

  judge(tell: Tell, refreshes?: boolean): void {
    for (const windows of [this.#inside, this.#outside]) {
      for (const window of windows.changed(refreshes)) {
        if (!this.#isWorthAdding(window, windows === this.#inside)) continue;
        const known = windows.total(window);
        const severity = this.#severity(known, windows === this.#inside);
        if (severity === undefined) continue;
        const rank = severities.indexOf(severity);
        const due = dueOf(window, rank, known.last, this.#terms.againMs, known.vain.size);
        if (due !== undefined)
          tell(this.#sighted(window.key, known, severity, windows === this.#inside), due);
      }
    }
  }

  state(): unknown {
    return { inside: this.#inside.state(), outside: this.#outside.state() };
  }

  restore(state: unknown): void {
    const { inside, outside } = state as PortScanState;
    this.#inside.restore(inside);
    this.#outside.restore(outside);
    this.#watched.clear();
    this.#watchAll();
  }

  merge(state: unknown): void {
    const { inside, outside } = state as PortScanState;
    this.#inside.merge(inside);
    this.#outside.merge(outside);
    this.#watchAll();
  }

  #vain(flow: Readonly<Flow>): void {
    if (isGroup(flow.dst)) return;
    const { src, dst, time } = flow;
    const tried = flow.srcHome
      ? this.#inside.of(this.#insideBy, src, dst, time)
      : this.#outside.of(this.#outsideBy, dst, src, time);
    if (tried === undefined) return;
    addPort(tried.vain, flow.port);
    if (tried.vain.size >= this.#terms.watchedFrom) this.#watch(flow.src);
    tried.attempts++;
    if (flow.time < tried.first) tried.first = flow.time;
    if (flow.time > tried.last) tried.last = flow.time;
    tried.seqs = keepEarliest(tried.seqs, flow.seq);
  }

  #watch(src: string): void {
    if (this.#watched.size >= this.#terms.maxInside + this.#terms.maxOutside) this.#watched.clear();
    this.#watched.add(src);
  }

  #watchAll(): void {
    for (const windows of [this.#inside, this.#outside])
      for (const { key, slots } of windows.all())
        for (const { value } of slots)
          if (value.vain.size >= this.#terms.watchedFrom) this.#watch(key.slice(0, key.indexOf(' ')));
  }

  #answer(flow: Readonly<Flow>): void {
    if (!(flow.port >= 0) || flow.transport !== 'tcp') return;
    const { src, dst, srcHash = hashText(src), dstHash = hashText(dst) } = flow;
    const mayBe = flow.srcHome
      ? this.#insideBy.mayHave(srcHash, dstHash)
      : this.#outsideBy.mayHave(dstHash, srcHash);
    if (!mayBe || !this.#watched.has(src)) return;
    const window = flow.srcHome ? this.#insideBy.of(src, dst) : this.#outsideBy.of(dst, src);
    if (window === undefined) return;
    const tried = (flow.srcHome ? this.#inside : this.#outside).in(window, flow.time);
    if (tried === undefined) return;
    tried.answered ??= noPorts();
    addPort(tried.answered, flow.port);
    if (flow.time > tried.last) tried.last = flow.time;
    const { usedBytes } = this.#terms;
    if (!(flow.srcBytes >= usedBytes && flow.dstBytes >= usedBytes)) return;
    const { time, seq, port, srcBytes, dstBytes } = flow;
    tried.used = later(tried.used, { time, seq, port, srcBytes, dstBytes });
  }

  /** Adding up the slots costs more than all the rest: only where it may come to what was not told yet. */
  #isWorthAdding({ slots, newest, toldAt, toldRank, isRefreshing }: Window<Tried>, inside: boolean): boolean {
    const { insidePorts, insideManyPorts, outsidePorts, outsideUsedPorts, slotMs, againMs } = this.#terms;
    let ports = 0;
    let isUsed = false;
    for (const { value } of slots) {
      ports += value.vain.size;
      if (value.used !== undefined) isUsed = true;
    }
    if (ports < (inside ? insidePorts : isUsed ? Math.min(outsideUsedPorts, outsidePorts) : outsidePorts))
      return false;
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
    const { insidePorts, insideManyPorts, outsidePorts, outsideUsedPorts, vainShare } = this.#terms;
    if (vain.size < (vain.size + (answered?.size ?? 0)) * vainShare) return undefined;
    const found = used !== undefined && used.time > first;
    if (inside) {
      if (vain.size < insidePorts) return undefined;
      return found || vain.size >= insideManyPorts ? 'high' : 'medium';
    }
    if (found && vain.size >= outsideUsedPorts) return 'medium';
    return vain.size >= outsidePorts ? 'low' : undefined;
  }

  #sighted(key: string, known: Tried, severity: Severity, inside: boolean): Sighted {
    const [src = '', dst = ''] = key.split(' ');
    const { vain, answered = empty, attempts, first, last, used } = known;
    const { insidePorts, outsidePorts, outsideUsedPorts, namedPorts, slotMs, slots } = this.#terms;
    const found = used !== undefined && used.time > first ? used : undefined;
    const minutes = Math.round((last - first) / 60_000);
    const seen = `${src} tried ${vain.size} ports of ${dst} in vain within ${minutes} minutes; ${answered.size === 0 ? 'none' : answered.size} answered.`;
    const then = found && ` It then exchanged data with port ${found.port}, which had answered.`;
    const next = inside
      ? 'A host of yours that looks for ways into another is compromised, or somebody tests the network: find out who used it.'
      : answered.size === 0
        ? 'Somebody outside looks for ways in and found none so far.'
        : 'Somebody outside looks for ways in: check that the ports that answered are meant to, and what was done there.';
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
        duration_minutes: minutes,
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
    const { slotMs, slots } = this.#terms;
    const weigh = (tried: Tried) =>
      emptyBytes + portsWeight(tried.vain) + portsWeight(tried.answered ?? empty);
    const terms = { slotMs, slots, maxKeys, maxWeight, weigh, index };
    return new Windows({ ...terms, create: noneTried, merge: mergeTried });
  }
}

const empty = noPorts();

/** A slot without its ports, measured. */
const emptyBytes = 400;

interface PortScanState {
  readonly inside: WindowsState<Tried>;
  readonly outside: WindowsState<Tried>;
}

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
  into.first = Math.min(into.first, from.first);
  into.last = Math.max(into.last, from.last);
  if (from.used !== undefined) into.used = later(into.used, from.used);
  into.seqs = mergeEarliest(into.seqs, from.seqs);
}

function later(one: Tried['used'], other: NonNullable<Tried['used']>): NonNullable<Tried['used']> {
  if (one === undefined || other.time > one.time) return other;
  return other.time === one.time && other.seq > one.seq ? other : one;
}
