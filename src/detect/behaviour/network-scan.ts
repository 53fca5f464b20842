import { type Severity, severities } from '../../contract/vocabulary.ts';
import { durationText } from '../../duration.ts';
import type { Detection, Detector, DetectorCard, Emit, Flow } from './detector.ts';
import { addToSample, countSample, type DistinctSample, emptySample, mergeSamples } from './support/distinct-sample.ts';
import { flowEvents, keepEarliest } from './support/earliest.ts';
import { PartedDetector, type PartedState } from './support/parted-detector.ts';
import { addPort, lowestPorts, mergePorts, noPorts, type PortSet, portsWeight } from './support/port-set.ts';
import { adminServices, isGroup, isVain, loginServices } from './support/ports.ts';
import { nothing } from './support/put-at.ts';
import { mergeSpans, type Span } from './support/span.ts';
import { ByParts, type KeyForm, type WindowIndex } from './support/window-index.ts';
import { dueOf, type Window, Windows } from './support/windows.ts';

export const networkScanThresholds = {
  /** Length of a slot. The slots of a window cover one day, so that slow sweeps are detected. */
  slotMs: 4 * 3_600_000,
  slots: 6,
  /**
   * Minimum home addresses that a home host tries without success. Printers, shares and old bookmarks cause a handful
   * of failures.
   */
  insideTargets: 20,
  /** Minimum home addresses for treating a scan as a scan of the whole network. */
  insideManyTargets: 64,
  /**
   * Minimum Internet addresses that a home host tries without success at a port for administration or login.
   */
  outboundAdminTargets: 30,
  /**
   * Minimum Internet addresses at any other port. Mail servers and crawlers have dead peers; clients had at
   * most 10 on a quiet day.
   */
  outboundTargets: 200,
  /**
   * Minimum home addresses that an outside source tries without success. The whole Internet is swept all the
   * time: a source that does not cover most of a network of 256 addresses is background.
   */
  outsideTargets: 200,
  /**
   * Number of home addresses tried from outside before sources are counted. With fewer addresses there is no
   * network to sweep, and thousands of sources a day need not be stored.
   */
  outsideNetwork: 16,
  /**
   * Minimum failed targets of a source within a slot before its answered targets are recorded too. Most sources are
   * regular clients.
   */
  watchedFrom: 3,
  /** Minimum share of failed targets among all tried targets. */
  vainShare: 0.6,
  /** Time after which a continuing scan is reported again. */
  againMs: 24 * 3_600_000,
  /** Maximum pairs of home source and port. */
  maxInside: 8_192,
  /** Maximum outside sources. They have a separate limit, because their addresses can be forged. */
  maxOutside: 4_000,
  /**
   * Maximum ports of one home source that are counted separately. Further ports, except login ports, are counted
   * together: otherwise, a port scan by one host would use up the keys of all other hosts.
   */
  maxPortsOfSource: 256,
  /** Number of hashes for counting targets. The count is exact below this number, and has an error of 6 % above it. */
  counted: 257,
  /** Maximum ports named in a finding. */
  namedPorts: 20,
  /** Maximum bytes of the slots of home sources. */
  maxInsideBytes: 10 * 2 ** 20,
  /** Maximum bytes of the slots of outside sources. */
  maxOutsideBytes: 4 * 2 ** 20,
} as const;

interface Swept extends Span {
  readonly vain: DistinctSample;
  readonly ports: PortSet;
  /** Targets that answered; undefined in the usual case of no answers. */
  answered: DistinctSample | undefined;
  answeredPorts: PortSet | undefined;
  attempts: number;
}

type Thresholds = { readonly [K in keyof typeof networkScanThresholds]: number };
type Direction = 'inside' | 'outbound' | 'inbound';

/**
 * Reports home hosts that try one port of many targets, and outside sources that try any ports of many targets, most
 * of them without success. Each port of a home host's sweep over several ports is evaluated separately, and the
 * findings of all ports make one alert. Memory: at most 22 MB for all slots and 12,000 keys.
 */
export class NetworkScanDetector extends PartedDetector implements Detector {
  readonly card: DetectorCard = {
    id: 'network-scan',
    version: 1,
    name: 'Network scan',
    category: 'Reconnaissance',
    mitre: { tactics: ['TA0007', 'TA0043'], techniques: ['T1018', 'T1046', 'T1595.001'] },
  };
  readonly #thresholds: Thresholds;
  readonly #inside: Windows<Swept>;
  readonly #outside: Windows<Swept>;
  readonly #insideBy = new ByParts<Swept, string, number | string>(sourceAndAim, true);
  readonly #outsideBy = new ByParts<Swept, string, string>(sourceOutside);
  /** Sources whose answered targets are recorded; cleared when the set is full. */
  readonly #watched = new Set<string>();
  /** Home addresses tried from outside. No more addresses are added once there are enough for a network. */
  #tried: DistinctSample = emptySample();

  constructor(thresholds: Partial<Thresholds> = {}) {
    super();
    this.#thresholds = { ...networkScanThresholds, ...thresholds };
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
    else this.#vain(flow);
  }

  evaluate(emit: Emit, refreshes?: boolean): void {
    const { insideTargets, outboundAdminTargets, outboundTargets, outsideTargets, againMs } = this.#thresholds;
    const least = Math.min(insideTargets, outboundAdminTargets, outboundTargets);
    for (const windows of [this.#inside, this.#outside]) {
      const fewest = windows === this.#inside ? least : outsideTargets;
      for (const window of windows.changed(refreshes)) {
        if (!isWorthAdding(window, fewest)) continue;
        const known = windows.total(window);
        const [src = '', direction = '', port = '-1', transport] = window.key.split(' ');
        const severity = this.#severity(known, direction as Direction, Number(port));
        if (severity === undefined) continue;
        const rank = severities.indexOf(severity);
        const due = dueOf(window, rank, known.last, againMs, countSample(known.vain, this.#thresholds.counted));
        if (due === undefined) continue;
        emit(this.#detection(src, direction as Direction, Number(port), transport, known, severity), due);
      }
    }
  }

  override state(): PartedState {
    return { ...super.state(), tried: this.#tried };
  }

  override restore(state: PartedState): void {
    super.restore(state);
    this.#watched.clear();
    this.#watchAll();
    const { hashes, names } = state.tried as DistinctSample;
    this.#tried = { hashes: [...hashes], names: [...names] };
  }

  override merge(state: PartedState): void {
    super.merge(state);
    this.#watchAll();
    mergeSamples(this.#tried, state.tried as DistinctSample, this.#thresholds.outsideNetwork);
  }

  #vain(flow: Readonly<Flow>): void {
    const isPing = flow.srcHome && flow.dstHome && Number.isNaN(flow.port) && isIcmp(flow.transport);
    if (!(isPing || isVain(flow)) || isGroup(flow.dst)) return;
    // Datagrams to the Internet often go unanswered in peer-to-peer protocols.
    if (!flow.dstHome && flow.transport !== 'tcp') return;
    if (!flow.srcHome && !this.#isNetwork(flow.dst)) return;
    const swept = flow.srcHome
      ? this.#inside.of(this.#insideBy, flow.src, this.#aimOf(flow), flow.time, flow.srcKey)
      : this.#outside.of(this.#outsideBy, flow.src, 'inbound', flow.time, flow.srcKey);
    if (swept === undefined) return;
    addToSample(swept.vain, flow.dst, this.#thresholds.counted, flow.dstHash);
    if (swept.vain.hashes.length >= this.#thresholds.watchedFrom) this.#watch(flow.src);
    if (flow.port >= 0) addPort(swept.ports, flow.port);
    swept.attempts++;
    if (flow.time < swept.first) swept.first = flow.time;
    if (flow.time > swept.last) swept.last = flow.time;
    swept.seqs = keepEarliest(swept.seqs, flow.seq);
  }

  #answer(flow: Readonly<Flow>): void {
    if (flow.transport !== 'tcp') return;
    const window = flow.srcHome ? this.#foundInside(flow) : this.#foundOutside(flow);
    if (window === undefined) return;
    const swept = (flow.srcHome ? this.#inside : this.#outside).in(window, flow.time);
    if (swept === undefined) return;
    swept.answered ??= emptySample();
    addToSample(swept.answered, flow.dst, this.#thresholds.counted, flow.dstHash);
    swept.answeredPorts ??= noPorts();
    addPort(swept.answeredPorts, flow.port);
    if (flow.time > swept.last) swept.last = flow.time;
  }

  #foundInside(flow: Readonly<Flow>): Window<Swept> | undefined {
    const { src, srcKey } = flow;
    let window = this.#insideBy.of(src, aimOf(flow), srcKey);
    if (window === undefined && this.#insideBy.size >= this.#thresholds.maxPortsOfSource)
      window = this.#insideBy.of(src, this.#aimOf(flow), srcKey);
    return window !== undefined && this.#watched.has(src) ? window : undefined;
  }

  #aimOf(flow: Readonly<Flow>): number | string {
    const aim = aimOf(flow);
    const known = this.#insideBy.group(flow.src);
    if (known === undefined || known.size < this.#thresholds.maxPortsOfSource) return aim;
    if (this.#insideBy.of(flow.src, aim, flow.srcKey) !== undefined || isLogin(flow.port)) return aim;
    return aimAt(flow.dstHome ? 'inside' : 'outbound', -1, flow.transport);
  }

  #foundOutside({ src, srcKey }: Readonly<Flow>): Window<Swept> | undefined {
    const window = this.#outsideBy.of(src, 'inbound', srcKey);
    return window !== undefined && this.#watched.has(src) ? window : undefined;
  }

  #watch(src: string): void {
    if (this.#watched.size >= this.#thresholds.maxInside + this.#thresholds.maxOutside) this.#watched.clear();
    this.#watched.add(src);
  }

  #watchAll(): void {
    for (const windows of [this.#inside, this.#outside])
      for (const { key, slots } of windows.all())
        for (const { value } of slots)
          if (value.vain.hashes.length >= this.#thresholds.watchedFrom) this.#watch(sourceOf(key));
  }

  #isNetwork(dst: string): boolean {
    const { outsideNetwork } = this.#thresholds;
    if (this.#tried.hashes.length >= outsideNetwork) return true;
    addToSample(this.#tried, dst, outsideNetwork);
    return this.#tried.hashes.length >= outsideNetwork;
  }

  #threshold(direction: Direction, port: number): number {
    const { insideTargets, outboundAdminTargets, outboundTargets, outsideTargets } = this.#thresholds;
    if (direction === 'inside') return insideTargets;
    if (direction === 'inbound') return outsideTargets;
    return isLogin(port) ? outboundAdminTargets : outboundTargets;
  }

  #severity({ vain, answered, answeredPorts }: Swept, direction: Direction, port: number): Severity | undefined {
    const { counted, insideManyTargets, vainShare } = this.#thresholds;
    const inVain = countSample(vain, counted);
    const answers = answered === undefined ? 0 : countSample(answered, counted);
    if (inVain < this.#threshold(direction, port) || inVain < (inVain + answers) * vainShare) return undefined;
    if (direction === 'inside') return inVain >= insideManyTargets && port >= 0 ? 'high' : 'medium';
    if (direction === 'outbound') return isLogin(port) ? 'high' : 'medium';
    return lowestPorts(answeredPorts ?? noPorts(), maxAnsweredPorts).some(isLogin) ? 'medium' : 'low';
  }

  #detection(
    src: string,
    direction: Direction,
    port: number,
    transport: string | undefined,
    known: Swept,
    severity: Severity,
  ): Detection {
    const { counted, slotMs, slots, namedPorts } = this.#thresholds;
    const inVain = countSample(known.vain, counted);
    const answers = known.answered === undefined ? 0 : countSample(known.answered, counted);
    const durationMs = known.last - known.first;
    const ports = known.ports.size;
    const only = ports === 1 ? lowestPorts(known.ports, 1)[0] : undefined;
    const what = only === undefined ? (ports === 0 ? 'ping' : `${ports} ports`) : `port ${only}`;
    const threshold = this.#threshold(direction, port);
    return {
      title: `Network scan: ${src} tried ${what} at ${inVain} addresses`,
      description: `${src} tried ${what} at ${inVain} addresses without success within ${durationText(durationMs)}; ${answers} answered. ${meaning[direction]}`,
      severity,
      confidence: inVain >= 2 * threshold ? 0.95 : 0.8,
      timestamp: known.last,
      began: known.first,
      ends: {
        src_ip: src,
        ...(only === undefined ? {} : { dst_port: only }),
        ...(transport === undefined ? {} : { transport }),
      },
      evidence: {
        direction,
        targets_in_vain: inVain,
        targets_answered: answers,
        attempts_in_vain: known.attempts,
        ports: lowestPorts(known.ports, namedPorts),
        answered_ports: lowestPorts(known.answeredPorts ?? noPorts(), namedPorts),
        some_targets: [...known.vain.names],
        some_answered: [...(known.answered?.names ?? [])],
        first_attempt: new Date(known.first).toISOString(),
        duration_minutes: Math.round(durationMs / 60_000),
        window_hours: (slotMs * slots) / 3_600_000,
        threshold_targets: threshold,
      },
      events: flowEvents(known.seqs),
    };
  }

  #windows(maxKeys: number, maxWeight: number, index: WindowIndex<Swept>): Windows<Swept> {
    const { slotMs, slots, counted } = this.#thresholds;
    const weigh = ({ vain, answered, ports, answeredPorts }: Swept) =>
      emptyBytes +
      (vain.hashes.length + (answered?.hashes.length ?? 0)) * 8 +
      portsWeight(ports) +
      (answeredPorts === undefined ? weightOfNone : portsWeight(answeredPorts));
    const merge = (into: Swept, from: Swept) => mergeSwept(into, from, counted);
    return new Windows({ slotMs, slots, maxKeys, maxWeight, weigh, index, create: noneSwept, merge });
  }
}

const weightOfNone = portsWeight(noPorts());

/** Measured size in bytes of a slot without its hashes and ports. */
const emptyBytes = 800;

const meaning: Readonly<Record<Direction, string>> = {
  inside:
    'An internal host that scans other hosts is compromised, or is used for an inventory of the network: find out who was using it, and look at the hosts that answered.',
  outbound:
    'An internal host that scans the Internet is most likely infected and spreading, or used to attack others: check what runs on it and isolate it.',
  inbound:
    'An outside source scans your network: check that the hosts that answered are meant to be reachable, and what was done there.',
};

/** Maximum answered ports that are searched for login ports. Real networks answer on fewer ports. */
const maxAnsweredPorts = 100;

const isLogin = (port: number): boolean => adminServices.has(port) || loginServices.has(port);
const isIcmp = (transport: string): boolean => transport.startsWith('icmp') || transport === 'ipv6-icmp';

/**
 * Returns the part of a home host's key after the source: direction, port and transport. The result is a text if there
 * is no port, or if the transport is neither TCP nor UDP. Home hosts are evaluated by port. Outside sources try all
 * ports, so their ports are only counted.
 */
const aimOf = ({ dstHome, port, transport }: Readonly<Flow>): number | string =>
  aimAt(dstHome ? 'inside' : 'outbound', port, transport);

function aimAt(direction: string, port: number, transport: string): number | string {
  const kind = transport === 'tcp' ? 0 : transport === 'udp' ? 1 : -1;
  if (kind < 0 || !(port >= 0)) return `${direction} ${port >= 0 ? port : -1} ${transport}`;
  return port * 4 + kind * 2 + (direction === 'inside' ? 1 : 0);
}

const sourceAndAim: KeyForm<string, number | string> = {
  write(src, aim) {
    if (typeof aim === 'string') return `${src} ${aim}`;
    const direction: Direction = (aim & 1) === 1 ? 'inside' : 'outbound';
    return `${src} ${direction} ${aim >> 2} ${(aim & 2) === 2 ? 'udp' : 'tcp'}`;
  },
  read(key) {
    const [src = '', direction = '', port, ...transport] = key.split(' ');
    return [src, aimAt(direction, Number(port), transport.join(' '))];
  },
};

/** Keys of outside sources differ only in the source. */
const sourceOutside: KeyForm<string, string> = {
  write: (src, direction) => `${src} ${direction}`,
  read: (key) => [sourceOf(key), 'inbound'],
};

const sourceOf = (key: string): string => key.slice(0, key.indexOf(' '));

/**
 * Returns whether a window may reach the threshold. Most windows do not, and adding up their slots is the most
 * expensive step.
 */
function isWorthAdding({ slots }: Window<Swept>, fewest: number): boolean {
  let targets = 0;
  for (const { value } of slots) targets += value.vain.hashes.length;
  return targets >= fewest;
}

function noneSwept(): Swept {
  return {
    vain: emptySample(),
    ports: noPorts(),
    answered: undefined,
    answeredPorts: undefined,
    attempts: 0,
    first: Number.POSITIVE_INFINITY,
    last: Number.NEGATIVE_INFINITY,
    seqs: nothing,
  };
}

function mergeSwept(into: Swept, from: Swept, counted: number): void {
  mergeSamples(into.vain, from.vain, counted);
  mergePorts(into.ports, from.ports);
  if (from.answered !== undefined) {
    into.answered ??= emptySample();
    mergeSamples(into.answered, from.answered, counted);
  }
  if (from.answeredPorts !== undefined) {
    into.answeredPorts ??= noPorts();
    mergePorts(into.answeredPorts, from.answeredPorts);
  }
  into.attempts += from.attempts;
  mergeSpans(into, from);
}
