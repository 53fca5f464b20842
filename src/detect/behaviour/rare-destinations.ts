import { type Severity, severities } from '../../contract/vocabulary.ts';
import { finish, fnvStart, fnvStep } from '../../sketch/hash.ts';
import type { Detection, Detector, DetectorCard, Emit, Flow } from './detector.ts';
import { BlockCache } from './support/block-cache.ts';
import { hashText } from './support/distinct-sketch.ts';
import { FirstSeen } from './support/first-seen.ts';
import { ascending } from './support/order-statistics.ts';
import { PartedDetector, type PartedState } from './support/parted-detector.ts';
import { ByKey, ByParts } from './support/window-index.ts';
import { type Window, Windows } from './support/windows.ts';

const dayMs = 86_400_000;

/** Tunable thresholds. */
export const rareDestinations = {
  /** A destination network is new if no home host communicated with it for this number of days. */
  absentDays: 30,
  /** Minimum days with events among the previous `watchedDays` before anything is reported. */
  learningDays: 7,
  watchedDays: 14,
  /**
   * Minimum bytes from a host to a new destination in a day. Users visit new sites all day and send little.
   */
  minBytesOut: 1_000_000,
  /** Minimum bytes in both directions to a destination with a rare port. */
  minBytesRarePort: 20_000,
  /** Maximum home hosts that use a rare port. */
  rarePortHosts: 2,
  /** Ports that are never rare. */
  ordinaryPorts: new Set([
    20, 21, 22, 25, 43, 53, 80, 110, 123, 143, 443, 465, 500, 587, 853, 989, 990, 993, 995, 1194, 1935, 3478, 4500,
    5060, 5061, 5222, 5223, 5228, 8080, 8443,
  ]),
  /** UDP ports above this number are chosen at random by calls and games. */
  highestUdpPort: 1023,
  /** Maximum destinations stored per host and day. Destinations to which the most bytes were sent are kept. */
  places: 16,
  /** Maximum destinations listed in a finding. */
  listed: 10,
} as const;

const room = {
  /** Counting-filter cells for networks, 4 bytes each. */
  cells: 2 ** 19,
  /** Limits for hosts with new destinations. */
  hosts: { maxKeys: 4_096, maxWeight: 40_000 },
  /** Limits for ports. */
  ports: { maxKeys: 4_096, maxWeight: 12_288 },
} as const;

interface NewDestination {
  readonly dst: string;
  readonly port: number;
  readonly transport: string;
  bytesOut: number;
  bytesIn: number;
  seq: number;
}

/** The new destinations of one host on one day. */
interface Day {
  readonly places: NewDestination[];
  /**
   * Hashes of `places`. The hashes are compared first, because comparing all destinations would need sixteen memory
   * accesses.
   */
  readonly marks: number[];
  /** Index of the destination with the fewest bytes; negative if the index must be determined again. */
  least: number;
  newest: number;
  /** Time of the first connection; absent in states of earlier versions. */
  oldest?: number;
  /** Rank of the severity that was reported; -1 if nothing was reported. */
  told: number;
}

/** Hosts that used a port in one week. */
interface Week {
  /** The first hosts in alphabetical order, one host more than the limit for a rare port. */
  readonly hosts: string[];
  /** The first day on which the port was used, in days since the epoch. */
  firstDay: number;
}

/**
 * Reports home hosts that send much data to an outside destination with which no home host communicated for a month.
 * Also reports home hosts with a new destination or port, if hardly any host uses the port. Destinations are networks,
 * /24 and /48, because neighbouring addresses mostly have the same owner. Findings show changes for further analysis:
 * one per host and day, with severity informational, or low if a new destination is on a rare port.
 *
 * Memory: networks 2 MB, ports 3 MB, destinations 6 MB. Full cells of networks do not cause errors; they only make new
 * destinations look known. The least recently used hosts and ports are dropped first.
 */
export class RareDestinationsDetector extends PartedDetector implements Detector {
  readonly card: DetectorCard = {
    id: 'rare-destination',
    version: 2,
    name: 'New destination',
    category: 'anomaly',
    mitre: { tactics: ['TA0011'], techniques: ['T1571'] },
  };
  readonly #networks = new FirstSeen(room.cells, rareDestinations.absentDays);
  /** Days with events, as days since the epoch; only the 366 newest days are kept. */
  readonly #days = new Set<number>();
  readonly #hostsBy = new ByKey<Day>();
  readonly #hostsOfBlock = new BlockCache<Window<Day>>();
  readonly #hashesOfBlock = new BlockCache<number>();
  /** The latest day added to `#days`. */
  #lastDay = 0;
  readonly #portsBy = new ByParts<Week, string, number>({
    write: (transport, port) => `${transport} ${port}`,
    read(key) {
      const space = key.lastIndexOf(' ');
      return [key.slice(0, space), Number(key.slice(space + 1))];
    },
  });
  readonly #hosts = new Windows<Day>({
    slotMs: dayMs,
    slots: 2,
    ...room.hosts,
    index: this.#hostsBy,
    weigh: ({ places }) => 2 + places.length,
    create: () => ({ places: [], marks: [], least: -1, newest: 0, told: -1 }),
    merge: (into, from) => {
      for (const place of from.places) addPlace(into, place, hashText(place.dst));
      into.newest = Math.max(into.newest, from.newest);
      if (from.oldest !== undefined && !(into.oldest! <= from.oldest)) into.oldest = from.oldest;
      into.told = Math.max(into.told, from.told);
    },
  });
  readonly #ports = new Windows<Week>({
    slotMs: 7 * dayMs,
    slots: 5,
    ...room.ports,
    index: this.#portsBy,
    create: () => ({ hosts: [], firstDay: Number.POSITIVE_INFINITY }),
    merge: (into, from) => {
      for (const host of from.hosts) addHost(into.hosts, host);
      into.firstDay = Math.min(into.firstDay, from.firstDay);
    },
  });

  protected get parts() {
    return { networks: this.#networks, hosts: this.#hosts, ports: this.#ports };
  }

  flow(flow: Readonly<Flow>): void {
    if (!flow.srcHome || flow.dstHome || !flow.answered) return;
    const { src, dst, port, transport, time } = flow;
    const day = Math.floor(time / dayMs);
    if (!(port > 0) || !(day > 0 && day <= 0xffff)) return;
    this.#watched(day);
    const isOdd = isOddPort(port, transport);
    if (isOdd) this.#portUsed(port, transport, src, time, day);
    let hash = this.#hashesOfBlock.get(flow.block, flow.dstPlace);
    if (hash === undefined) {
      hash = networkHash(dst);
      this.#hashesOfBlock.set(flow.block, flow.dstPlace, hash);
    }
    if (this.#networks.see(hash, otherHash(hash), day) !== day && !isOdd) return;
    const host = this.#hostOf(flow);
    if (host === undefined) return;
    const { srcBytes: bytesOut, dstBytes: bytesIn, seq, dstHash = hashText(dst) } = flow;
    addBytes(host, dst, port, transport, bytesOut, bytesIn, seq, dstHash);
    if (time > host.newest) host.newest = time;
    if (!(time >= host.oldest!)) host.oldest = time;
  }

  evaluate(emit: Emit, refreshes?: boolean): void {
    this.#ports.changed();
    let lastDay = Number.NaN;
    let isLearnt = false;
    for (const window of this.#hosts.changed(refreshes))
      for (const { start, value: day } of window.slots) {
        window.toldRank = Math.max(window.toldRank, day.told);
        const mayGrow = window.isRefreshing && day.told >= 0;
        if (day.told >= low && !mayGrow) continue;
        const dayNumber = start / dayMs;
        if (dayNumber !== lastDay) isLearnt = this.#daysBefore(dayNumber) >= rareDestinations.learningDays;
        lastDay = dayNumber;
        if (!isLearnt) continue;
        const rare = this.#rareOf(day, dayNumber);
        if (rare.length === 0) continue;
        const severity = rare.some(({ isNew, isRarePort }) => isNew && isRarePort) ? 'low' : 'informational';
        const rank = severities.indexOf(severity);
        if (rank <= day.told && !mayGrow) continue;
        const due = day.told < 0 ? 'new' : rank > day.told ? 'graver' : 'grown';
        day.told = Math.max(day.told, rank);
        window.toldRank = Math.max(window.toldRank, rank);
        emit(sight(window.key, day, rare, severity), due);
      }
  }

  override state(): PartedState {
    return { ...super.state(), days: [...this.#days] };
  }

  override restore(state: PartedState): void {
    super.restore(state);
    this.#hostsOfBlock.forget();
    this.#lastDay = 0;
    this.#days.clear();
    for (const day of state.days as readonly number[]) this.#days.add(day);
  }

  override merge(state: PartedState): void {
    super.merge(state);
    for (const day of state.days as readonly number[]) this.#watched(day);
  }

  #hostOf({ src, time, block, srcPlace }: Readonly<Flow>): Day | undefined {
    const known = this.#hostsOfBlock.get(block, srcPlace);
    if (known !== undefined && !known.isForgotten) return this.#hosts.in(known, time);
    const host = this.#hosts.of(this.#hostsBy, src, undefined, time);
    this.#hostsOfBlock.set(block, srcPlace, this.#hostsBy.of(src)!);
    return host;
  }

  #watched(day: number): void {
    if (day === this.#lastDay) return;
    this.#lastDay = day;
    if (this.#days.has(day)) return;
    this.#days.add(day);
    if (this.#days.size > 366) this.#days.delete(Math.min(...this.#days));
  }

  #daysBefore(day: number): number {
    let watched = 0;
    for (let before = day - rareDestinations.watchedDays; before < day; before++) if (this.#days.has(before)) watched++;
    return watched;
  }

  #portUsed(port: number, transport: string, host: string, time: number, day: number): void {
    const week = this.#ports.of(this.#portsBy, transport, port, time);
    if (week === undefined) return;
    addHost(week.hosts, host);
    if (day < week.firstDay) week.firstDay = day;
  }

  /** Returns the destinations to report, sorted by the bytes sent, largest first. */
  #rareOf(day: Day, dayNumber: number): Rare[] {
    const rare: Rare[] = [];
    for (const place of day.places) {
      const { dst, port, transport, bytesOut, bytesIn } = place;
      const hash = networkHash(dst);
      const isNew = this.#networks.since(hash, otherHash(hash)) === dayNumber;
      const users = isOddPort(port, transport) ? this.#usersOf(port, transport) : undefined;
      const isRarePort = users !== undefined && users.hosts.length <= rareDestinations.rarePortHosts;
      const isFirst = isRarePort && users.firstDay === dayNumber;
      const isMuch = isNew && bytesOut >= rareDestinations.minBytesOut;
      const isOdd = (isNew || isFirst) && isRarePort && bytesOut + bytesIn >= rareDestinations.minBytesRarePort;
      if (isMuch || isOdd) rare.push({ ...place, isNew, isRarePort });
    }
    return rare.sort((a, b) => b.bytesOut - a.bytesOut || compare(a, b));
  }

  #usersOf(port: number, transport: string): Week | undefined {
    const window = this.#portsBy.of(transport, port);
    return window && this.#ports.total(window);
  }
}

const low = severities.indexOf('low');

interface Rare extends Readonly<NewDestination> {
  readonly isNew: boolean;
  readonly isRarePort: boolean;
}

function compare(a: Rare, b: Rare): number {
  if (a.dst !== b.dst) return a.dst < b.dst ? -1 : 1;
  return a.port - b.port || (a.transport < b.transport ? -1 : 1);
}

function isOddPort(port: number, transport: string): boolean {
  if (rareDestinations.ordinaryPorts.has(port)) return false;
  return transport === 'tcp' || port <= rareDestinations.highestUdpPort;
}

function addPlace(day: Day, place: Readonly<NewDestination>, hash: number): void {
  const { dst, port, transport, bytesOut, bytesIn, seq } = place;
  addBytes(day, dst, port, transport, bytesOut, bytesIn, seq, hash);
}

/**
 * Adds bytes to the destination's existing entry or to a free entry. Without a free entry, replaces the entry with the
 * fewest sent bytes, if the new entry has more.
 */
function addBytes(
  day: Day,
  dst: string,
  port: number,
  transport: string,
  bytesOut: number,
  bytesIn: number,
  seq: number,
  hash: number,
): void {
  const { places, marks } = day;
  const mark = (hash ^ Math.imul(port, 0x9e3779b1)) & 0x3fff_ffff;
  for (let i = 0; i < marks.length; i++) {
    if (marks[i] !== mark) continue;
    const known = places[i]!;
    if (known.port !== port || known.dst !== dst || known.transport !== transport) continue;
    known.bytesOut += bytesOut;
    known.bytesIn += bytesIn;
    if (seq < known.seq) known.seq = seq;
    // A destination that grows cannot become the smallest, so only growth of the smallest destination matters.
    if (i === day.least) day.least = -1;
    return;
  }
  let at = places.length;
  if (at >= rareDestinations.places) {
    if (day.least < 0) day.least = leastOf(places);
    at = day.least;
    const least = places[at]!;
    if (bytesOut < least.bytesOut || (bytesOut === least.bytesOut && seq >= least.seq)) return;
  }
  places[at] = { dst, port, transport, bytesOut, bytesIn, seq };
  marks[at] = mark;
  day.least = -1;
}

function leastOf(places: readonly NewDestination[]): number {
  let least = 0;
  for (let i = 1; i < places.length; i++) if (isLess(places[i]!, places[least]!)) least = i;
  return least;
}

function isLess(a: Readonly<NewDestination>, b: Readonly<NewDestination>): boolean {
  return a.bytesOut < b.bytesOut || (a.bytesOut === b.bytesOut && a.seq > b.seq);
}

/**
 * Adds a host, and keeps the first hosts in alphabetical order, so that the result does not depend on the
 * order of events.
 */
function addHost(hosts: string[], host: string): void {
  if (hosts.includes(host)) return;
  hosts.push(host);
  if (hosts.length <= rareDestinations.rarePortHosts + 1) return;
  hosts.sort();
  hosts.pop();
}

/** Returns the FNV-1a hash of the first three parts of an address: /24 of IPv4, /48 of IPv6. */
function networkHash(address: string): number {
  let hash = fnvStart;
  let parts = 0;
  for (let i = 0; i < address.length; i++) {
    const code = address.charCodeAt(i);
    if ((code === 46 || code === 58) && ++parts === 3) break;
    hash = fnvStep(hash, code);
  }
  return finish(hash);
}

const otherHash = (hash: number): number => finish(hash ^ 0x9e3779b9);

function sight(host: string, day: Day, rare: readonly Rare[], severity: Severity): Detection {
  const listed = rare.slice(0, rareDestinations.listed);
  const { dst, port, transport } = rare[0]!;
  const others = rare.length - 1;
  const more = others === 0 ? '' : ` and ${others} other ${others === 1 ? 'destination' : 'destinations'}`;
  const onRarePort = rare.some(({ isRarePort }) => isRarePort)
    ? ` At least one of the ports is used by at most ${rareDestinations.rarePortHosts} hosts of the network.`
    : '';
  const whose = rare.some(({ isNew }) => isNew)
    ? `which no host of the network contacted in the ${rareDestinations.absentDays} days before`
    : 'on a port that no host of the network used before';
  return {
    title: `${host} talks to ${dst}:${port}${more}, new to the network`,
    description:
      `${host} talked to ${dst}:${port}${more} ${whose}.${onRarePort} ` +
      'The host uses a new service, or a program on it sends data to an unexpected place. ' +
      'This alone is rarely a threat; look at what else the host did that day.',
    severity,
    confidence: 0.3,
    timestamp: day.newest,
    ...(day.oldest === undefined ? {} : { began: day.oldest }),
    ends: {
      src_ip: host,
      ...(others === 0 ? { dst_ip: dst, dst_port: port, ...(transport === '' ? {} : { transport }) } : {}),
    },
    keyed_by: ['src_ip'],
    evidence: {
      destinations: listed.map(
        (p) => `${p.dst}:${p.port}/${p.transport} ${Math.round(p.bytesOut)} out ${Math.round(p.bytesIn)} in`,
      ),
      destinations_count: rare.length,
      new_destinations: rare.filter(({ isNew }) => isNew).length,
      rare_ports: [...new Set(rare.filter(({ isRarePort }) => isRarePort).map((p) => p.port))].sort(ascending),
      bytes_out: Math.round(rare.reduce((sum, { bytesOut }) => sum + bytesOut, 0)),
      bytes_in: Math.round(rare.reduce((sum, { bytesIn }) => sum + bytesIn, 0)),
      threshold_bytes_out: rareDestinations.minBytesOut,
      threshold_bytes_rare_port: rareDestinations.minBytesRarePort,
      absent_days: rareDestinations.absentDays,
    },
    events: listed
      .map(({ seq }) => seq)
      .sort(ascending)
      .map((seq) => ({ table: 'network', seq })),
  };
}
