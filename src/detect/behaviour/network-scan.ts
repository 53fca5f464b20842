import { type Severity, severities } from '../../contract/vocabulary.ts';
import type { Detector, DetectorCard, Flow, Left, Sighted, Tell } from './detector.ts';
import { addDistinct, countDistinct, type Distinct, mergeDistinct, noneDistinct } from './distinct.ts';
import { hashText } from './distinct-names.ts';
import { flowEvents, keepEarliest, mergeEarliest } from './earliest.ts';
import { addPort, lowestPorts, mergePorts, noPorts, type PortSet, portsWeight } from './port-set.ts';
import { adminServices, isGroup, isVain, loginServices } from './ports.ts';
import { nothing } from './put-at.ts';
import { ByKey, ByParts, type KeyForm, type WindowIndex } from './window-index.ts';
import { dueOf, leftOf, type Window, Windows, type WindowsState } from './windows.ts';

export const networkScanTerms = {
  /** Together a day: slow sweeps count, too. */
  slotMs: 4 * 3_600_000,
  slots: 6,
  /** Home addresses at which a home host finds nobody. Printers, shares and old bookmarks make a handful. */
  insideTargets: 20,
  /** From here on it is a whole network. */
  insideManyTargets: 64,
  /** Addresses of the internet at which a home host asks in vain, at a port of administration or login. */
  outboundAdminTargets: 30,
  /** … at any other. Mail servers and crawlers have dead peers; clients of a quiet day had at most 10. */
  outboundTargets: 200,
  /** Home addresses that somebody outside tries in vain. All of the internet sweeps everything: what doesn't cover most
   * of a network of 256 is background. */
  outsideTargets: 200,
  /** Home addresses that are tried from outside at all, before it is counted by whom: below, there is no network to go
   * through, and thousands of sources a day needn't be kept. */
  outsideNetwork: 16,
  /** Targets in vain within a slot, from which on it is noted what else a source is answered: most only ever talk. */
  watchedFrom: 3,
  /** Of the targets, those that did not answer. */
  vainShare: 0.6,
  /** What goes on is told again. */
  againMs: 24 * 3_600_000,
  /** Pairs of home source and port, and sources outside, kept: these apart, as they can forge as many as they like. */
  maxInside: 8_192,
  maxOutside: 4_000,
  /** Ports of one home source that are counted one by one. A port scan of one host would take the keys of all others:
   * further ports, except those of logins, are counted together. */
  maxPortsOfSource: 256,
  /** Hashes by which targets are counted: exact below, then an error of 6 %. */
  counted: 257,
  /** Ports named in a finding. */
  namedPorts: 20,
  /** Bytes of their slots, at most. */
  maxInsideBytes: 10 * 2 ** 20,
  maxOutsideBytes: 4 * 2 ** 20,
} as const;

interface Swept {
  readonly vain: Distinct;
  readonly ports: PortSet;
  /** Undefined where nothing was answered, which is most. */
  answered: Distinct | undefined;
  answeredPorts: PortSet | undefined;
  attempts: number;
  first: number;
  last: number;
  seqs: number[];
}

type Terms = { readonly [K in keyof typeof networkScanTerms]: number };
type Direction = 'inside' | 'outbound' | 'inbound';

/**
 * One source tries one port of many targets, mostly in vain; each port of a home host's sweep over several is judged by
 * itself, and all are of one alert. Bounded by 22 MB:
 * slots by their bytes, and what a key takes itself, 12,000 times.
 */
export class NetworkScanDetector implements Detector {
  readonly card: DetectorCard = {
    id: 'network-scan',
    version: 1,
    name: 'Network scan',
    category: 'Reconnaissance',
    mitre: { tactics: ['TA0007', 'TA0043'], techniques: ['T1018', 'T1046', 'T1595.001'] },
  };
  readonly #terms: Terms;
  readonly #inside: Windows<Swept>;
  readonly #outside: Windows<Swept>;
  readonly #insideBy = new ByParts<Swept, string, number | string>(sourceAndAim, true);
  readonly #outsideBy = new ByKey<Swept>(sourceOutside);
  /** Sources whose answers are noted; found out anew when there are too many. */
  readonly #watched = new Set<string>();
  /** What is tried from outside; no longer added to once it is a network. */
  #tried: Distinct = noneDistinct();

  constructor(terms: Partial<Terms> = {}) {
    this.#terms = { ...networkScanTerms, ...terms };
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
    else this.#vain(flow);
  }

  judge(tell: Tell, refreshes?: boolean): void {
    const { insideTargets, outboundAdminTargets, outboundTargets, outsideTargets, againMs } = this.#terms;
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
        const due = dueOf(window, rank, known.last, againMs, countDistinct(known.vain, this.#terms.counted));
        if (due === undefined) continue;
        tell(this.#sighted(src, direction as Direction, Number(port), transport, known, severity), due);
      }
    }
  }

  state(): unknown {
    return { inside: this.#inside.state(), outside: this.#outside.state(), tried: this.#tried };
  }

  restore(state: unknown): void {
    const { inside, outside, tried } = state as NetworkScanState;
    this.#inside.restore(inside);
    this.#outside.restore(outside);
    this.#watched.clear();
    this.#watchAll();
    this.#tried = { hashes: [...tried.hashes], names: [...tried.names] };
  }

  merge(state: unknown): void {
    const { inside, outside, tried } = state as NetworkScanState;
    this.#inside.merge(inside);
    this.#outside.merge(outside);
    this.#watchAll();
    mergeDistinct(this.#tried, tried, this.#terms.outsideNetwork);
  }

  #vain(flow: Readonly<Flow>): void {
    const isPing = flow.srcHome && flow.dstHome && Number.isNaN(flow.port) && isIcmp(flow.transport);
    if (!(isPing || isVain(flow)) || isGroup(flow.dst)) return;
    // Datagrams to the internet go unanswered in masses wherever peers look for each other.
    if (!flow.dstHome && flow.transport !== 'tcp') return;
    if (!flow.srcHome && !this.#isNetwork(flow.dst)) return;
    const swept = flow.srcHome
      ? this.#inside.of(this.#insideBy, flow.src, this.#aimOf(flow), flow.time)
      : this.#outside.of(this.#outsideBy, flow.src, undefined, flow.time);
    if (swept === undefined) return;
    addDistinct(swept.vain, flow.dst, this.#terms.counted, flow.dstHash);
    if (swept.vain.hashes.length >= this.#terms.watchedFrom) this.#watch(flow.src);
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
    swept.answered ??= noneDistinct();
    addDistinct(swept.answered, flow.dst, this.#terms.counted, flow.dstHash);
    swept.answeredPorts ??= noPorts();
    addPort(swept.answeredPorts, flow.port);
    if (flow.time > swept.last) swept.last = flow.time;
  }

  #foundInside(flow: Readonly<Flow>): Window<Swept> | undefined {
    const { src, srcHash = hashText(src) } = flow;
    const aim = this.#aimOf(flow);
    if (typeof aim === 'number' && !this.#insideBy.mayHave(srcHash, aim)) return undefined;
    return this.#watched.has(src) ? this.#insideBy.of(src, aim) : undefined;
  }

  #aimOf(flow: Readonly<Flow>): number | string {
    const aim = aimOf(flow);
    const known = this.#insideBy.group(flow.src);
    if (known === undefined || known.size < this.#terms.maxPortsOfSource) return aim;
    if (known.has(aim) || isLogin(flow.port)) return aim;
    return aimAt(flow.dstHome ? 'inside' : 'outbound', -1, flow.transport);
  }

  #foundOutside({ src }: Readonly<Flow>): Window<Swept> | undefined {
    return this.#watched.has(src) ? this.#outsideBy.of(src) : undefined;
  }

  #watch(src: string): void {
    if (this.#watched.size >= this.#terms.maxInside + this.#terms.maxOutside) this.#watched.clear();
    this.#watched.add(src);
  }

  #watchAll(): void {
    for (const windows of [this.#inside, this.#outside])
      for (const { key, slots } of windows.all())
        for (const { value } of slots)
          if (value.vain.hashes.length >= this.#terms.watchedFrom) this.#watch(sourceOf(key));
  }

  #isNetwork(dst: string): boolean {
    const { outsideNetwork } = this.#terms;
    if (this.#tried.hashes.length >= outsideNetwork) return true;
    addDistinct(this.#tried, dst, outsideNetwork);
    return this.#tried.hashes.length >= outsideNetwork;
  }

  #threshold(direction: Direction, port: number): number {
    const { insideTargets, outboundAdminTargets, outboundTargets, outsideTargets } = this.#terms;
    if (direction === 'inside') return insideTargets;
    if (direction === 'inbound') return outsideTargets;
    return isLogin(port) ? outboundAdminTargets : outboundTargets;
  }

  #severity(
    { vain, answered, answeredPorts }: Swept,
    direction: Direction,
    port: number,
  ): Severity | undefined {
    const { counted, insideManyTargets, vainShare } = this.#terms;
    const inVain = countDistinct(vain, counted);
    const answers = answered === undefined ? 0 : countDistinct(answered, counted);
    if (inVain < this.#threshold(direction, port) || inVain < (inVain + answers) * vainShare)
      return undefined;
    if (direction === 'inside') return inVain >= insideManyTargets && port >= 0 ? 'high' : 'medium';
    if (direction === 'outbound') return isLogin(port) ? 'high' : 'medium';
    return lowestPorts(answeredPorts ?? noPorts(), maxAnsweredPorts).some(isLogin) ? 'medium' : 'low';
  }

  #sighted(
    src: string,
    direction: Direction,
    port: number,
    transport: string | undefined,
    known: Swept,
    severity: Severity,
  ): Sighted {
    const { counted, slotMs, slots, namedPorts } = this.#terms;
    const inVain = countDistinct(known.vain, counted);
    const answers = known.answered === undefined ? 0 : countDistinct(known.answered, counted);
    const minutes = Math.round((known.last - known.first) / 60_000);
    const ports = known.ports.size;
    const only = ports === 1 ? lowestPorts(known.ports, 1)[0] : undefined;
    const what = only === undefined ? (ports === 0 ? 'ping' : `${ports} ports`) : `port ${only}`;
    const threshold = this.#threshold(direction, port);
    return {
      title: `Network scan: ${src} tried ${what} at ${inVain} addresses`,
      description: `${src} tried ${what} at ${inVain} different addresses in vain within ${minutes} minutes; ${answers} answered. ${meaning[direction]}`,
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
        some_targets: known.vain.names,
        some_answered: known.answered?.names ?? [],
        first_attempt: new Date(known.first).toISOString(),
        duration_minutes: minutes,
        window_hours: (slotMs * slots) / 3_600_000,
        threshold_targets: threshold,
      },
      events: flowEvents(known.seqs),
    };
  }

  #windows(maxKeys: number, maxWeight: number, index: WindowIndex<Swept>): Windows<Swept> {
    const { slotMs, slots, counted } = this.#terms;
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

/** A slot without its hashes and ports, measured. */
const emptyBytes = 800;

interface NetworkScanState {
  readonly inside: WindowsState<Swept>;
  readonly outside: WindowsState<Swept>;
  readonly tried: Distinct;
}

const meaning: Readonly<Record<Direction, string>> = {
  inside:
    'A host of yours that looks for others is compromised, or somebody takes stock of the network: find out who used it, and look at those that answered.',
  outbound:
    'A host of yours that searches the internet is most likely infected and spreads, or is used against others: look at what runs on it and cut it off.',
  inbound:
    'Somebody outside goes through your network: check that those that answered are meant to be reached, and what was done there.',
};

/** Looked through for those by which one logs in; nobody has more that answer. */
const maxAnsweredPorts = 100;

const isLogin = (port: number): boolean => adminServices.has(port) || loginServices.has(port);
const isIcmp = (transport: string): boolean => transport.startsWith('icmp') || transport === 'ipv6-icmp';

/** A home host is judged by port; of an outsider, who goes through all of them, the ports are counted instead. */
/** What a home host looks for: all that comes after the source in its key, which is written only for what has no port. */
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

const sourceOutside: KeyForm<string, unknown> = {
  write: (src) => `${src} inbound`,
  read: (key) => [sourceOf(key), undefined],
};

const sourceOf = (key: string): string => key.slice(0, key.indexOf(' '));

/** Most never come near: adding their slots up would cost more than all the rest. */
function isWorthAdding({ slots }: Window<Swept>, fewest: number): boolean {
  let targets = 0;
  for (const { value } of slots) targets += value.vain.hashes.length;
  return targets >= fewest;
}

function noneSwept(): Swept {
  return {
    vain: noneDistinct(),
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
  mergeDistinct(into.vain, from.vain, counted);
  mergePorts(into.ports, from.ports);
  if (from.answered !== undefined) {
    into.answered ??= noneDistinct();
    mergeDistinct(into.answered, from.answered, counted);
  }
  if (from.answeredPorts !== undefined) {
    into.answeredPorts ??= noPorts();
    mergePorts(into.answeredPorts, from.answeredPorts);
  }
  into.attempts += from.attempts;
  into.first = Math.min(into.first, from.first);
  into.last = Math.max(into.last, from.last);
  into.seqs = mergeEarliest(into.seqs, from.seqs);
}
