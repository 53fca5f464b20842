import { type Severity, severities } from '../../contract/vocabulary.ts';
import { linkBytes } from '../../events/plausible-bytes.ts';
import type { Detection, Detector, DetectorCard, Emit, Flow } from './detector.ts';
import { BlockCache } from './support/block-cache.ts';
import { addTo, type Largest, mergeInto, noneYet } from './support/largest-few.ts';
import { ascending, median, medianDeviation } from './support/order-statistics.ts';
import { ByParts } from './support/window-index.ts';
import { WindowedDetector } from './support/windowed-detector.ts';
import { type Window, Windows, type WindowsState } from './support/windows.ts';

const dayMs = 86_400_000;
const megabyte = 1_000_000;
const mostInDay = linkBytes(dayMs);

/** Tunable thresholds. */
export const exfiltration = {
  /**
   * Minimum bytes in a day, by whether the host opened the connections (`sent`) or received them (`served`).
   * Servers send much to all their clients.
   */
  minBytes: { sent: 100 * megabyte, served: 500 * megabyte },
  /** Minimum bytes in a day without a baseline: a new host may legitimately copy all its data. */
  minBytesLearning: { sent: 2_000 * megabyte, served: 20_000 * megabyte },
  /** Minimum earlier days with outbound data for a baseline. */
  learningDays: 4,
  /** Maximum days of the baseline. */
  baselineDays: 14,
  /**
   * Standard deviations by which a day must exceed the median. The standard deviation is estimated by the median
   * deviation.
   */
  deviations: 8,
  /** Factor of the median that a day must also exceed, because some hosts send nearly the same amount each day. */
  timesMedian: 3,
  /** Factor of the largest earlier day that a day must also exceed, because some hosts make a copy once a week. */
  timesMost: 1.5,
  /**
   * Minimum share of the day's bytes to one destination: exfiltration is concentrated on one destination,
   * regular traffic is not.
   */
  concentrated: 0.6,
  /**
   * Minimum factor of the median and minimum bytes for severity high. Most bytes must have gone to one destination
   * that is new to the host.
   */
  grave: { timesMedian: 10, bytes: 1_000 * megabyte },
  /**
   * A single report counts as an upload if it has at least `bytes` outbound, and at least `ratio` times its
   * inbound bytes.
   */
  upload: { bytes: 250 * megabyte, ratio: 20 },
  /** Reports with fewer outbound bytes are not counted by destination. */
  minReport: 16_384,
  /** Maximum destinations per host and day; the largest are stored. */
  destinations: 8,
} as const;

/** Maximum hosts (counted twice if they both send and serve), and maximum weight in units of 100 bytes. */
const room = { maxKeys: 8_192, maxWeight: 120_000 } as const;

type How = 'sent' | 'served';

/** Outbound data of one host in the connections that began on one day. */
interface Day {
  bytes: number;
  bytesIn: number;
  readonly to: Largest;
  /** The largest report that counts as an upload. */
  upload: { bytes: number; bytesIn: number; peer: string; seq: number };
  firstSeq: number;
  lastSeq: number;
  newest: number;
  /** Time of the first report; absent in states of earlier versions. */
  oldest?: number;
  /** Rank of the severity that was reported; -1 if nothing was reported. */
  told: number;
  /** Bytes at the last evaluation. */
  judged: number;
  /** Bytes at the last report; absent in states of earlier versions. */
  reported?: number;
}

/**
 * Reports home hosts that send far more to the outside in a day than on their other days. The baseline is the median
 * and the median deviation of the host's own days in the previous two weeks. Connections that the host opened (`sent`)
 * and connections that the host received (`served`) have separate baselines. A single destination, and a destination
 * that never received a large share before, increase the severity. A single upload larger than all other days is also
 * reported, with severity low.
 *
 * All reports of a connection count for the day in which the connection began, so that the order of reports does not
 * matter. The largest destinations are stored (space saving of Metwally et al. 2005: a share is at most an eighth too
 * high), from reports of 16 KB or more.
 *
 * Memory: at most 8,192 hosts and 120,000 units of 100 bytes, 13.5 MB: about 2,500 hosts for two weeks. The
 * longest idle hosts are dropped first.
 */
export class ExfiltrationDetector extends WindowedDetector<Day> implements Detector {
  readonly card: DetectorCard = {
    id: 'exfiltration',
    version: 1,
    name: 'Unusual outbound data volume',
    category: 'exfiltration',
    mitre: { tactics: ['TA0010'], techniques: ['T1048', 'T1567'] },
  };
  readonly #byHost = new ByParts<Day, How, string>({
    write: (how, host) => `${host} ${how}`,
    read: (key) => [key.endsWith(' sent') ? 'sent' : 'served', key.slice(0, key.indexOf(' '))],
  });
  readonly #sentOfBlock = new BlockCache<Window<Day>>();
  readonly #servedOfBlock = new BlockCache<Window<Day>>();
  protected readonly windows = new Windows<Day>({
    slotMs: dayMs,
    slots: exfiltration.baselineDays + 1,
    ...room,
    weigh: ({ to }) => 4 + to.names.length,
    create: () => ({
      bytes: 0,
      bytesIn: 0,
      to: noneYet(),
      upload: { bytes: 0, bytesIn: 0, peer: '', seq: 0 },
      firstSeq: Number.POSITIVE_INFINITY,
      lastSeq: Number.NEGATIVE_INFINITY,
      newest: 0,
      told: -1,
      judged: 0,
    }),
    merge: mergeDays,
    index: this.#byHost,
  });
  flow(flow: Readonly<Flow>): void {
    const { srcHome } = flow;
    if (srcHome === flow.dstHome) return;
    const bytes = srcHome ? flow.srcBytes : flow.dstBytes;
    if (!(bytes > 0) || !flow.answered) return;
    const day = srcHome
      ? this.#dayOf(flow.src, 'sent', flow, this.#sentOfBlock, flow.srcPlace)
      : this.#dayOf(flow.dst, 'served', flow, this.#servedOfBlock, flow.dstPlace);
    if (day === undefined) return;
    const bytesIn = srcHome ? flow.dstBytes : flow.srcBytes;
    day.bytes = Math.min(mostInDay, day.bytes + bytes);
    day.bytesIn = Math.min(mostInDay, day.bytesIn + bytesIn);
    if (flow.seq < day.firstSeq) day.firstSeq = flow.seq;
    if (flow.seq > day.lastSeq) day.lastSeq = flow.seq;
    if (flow.time > day.newest) day.newest = flow.time;
    if (!(flow.time >= day.oldest!)) day.oldest = flow.time;
    if (bytes < exfiltration.minReport) return;
    const peer = srcHome ? flow.dst : flow.src;
    addTo(day.to, peer, bytes, exfiltration.destinations);
    const { upload } = exfiltration;
    if (bytes >= upload.bytes && bytes >= upload.ratio * bytesIn)
      takeUpload(day, { bytes, bytesIn, peer, seq: flow.seq });
  }

  evaluate(emit: Emit, refreshes?: boolean): void {
    for (const window of this.windows.changed(refreshes)) {
      const how = window.first as How;
      for (const { start, value: day } of window.slots) {
        window.toldRank = Math.max(window.toldRank, day.told);
        const mayGrow = window.isRefreshing && day.told >= 0 && day.bytes !== day.reported;
        if ((day.bytes === day.judged && !mayGrow) || day.bytes < exfiltration.minBytes[how]) continue;
        day.judged = day.bytes;
        const found = conclude(window, start, day, how);
        if (found === undefined) continue;
        const rank = severities.indexOf(found.severity);
        if (rank <= day.told && !mayGrow) continue;
        const due = day.told < 0 ? 'new' : rank > day.told ? 'graver' : 'grown';
        day.told = Math.max(day.told, rank);
        day.reported = day.bytes;
        window.toldRank = Math.max(window.toldRank, rank);
        emit(sight(window.second as string, how, day, found), due);
      }
    }
  }

  override restore(state: WindowsState<Day>): void {
    this.#sentOfBlock.forget();
    this.#servedOfBlock.forget();
    super.restore(state);
  }

  #dayOf(
    host: string,
    how: How,
    { time, block }: Readonly<Flow>,
    ofBlock: BlockCache<Window<Day>>,
    place: number | undefined,
  ): Day | undefined {
    const known = ofBlock.get(block, place);
    if (known !== undefined && !known.isForgotten) return this.windows.in(known, time);
    const day = this.windows.of(this.#byHost, how, host, time);
    ofBlock.set(block, place, this.#byHost.of(how, host)!);
    return day;
  }
}

function mergeDays(into: Day, from: Day): void {
  into.bytes = Math.min(mostInDay, into.bytes + from.bytes);
  into.bytesIn = Math.min(mostInDay, into.bytesIn + from.bytesIn);
  mergeInto(into.to, from.to, exfiltration.destinations);
  takeUpload(into, from.upload);
  into.firstSeq = Math.min(into.firstSeq, from.firstSeq);
  into.lastSeq = Math.max(into.lastSeq, from.lastSeq);
  into.newest = Math.max(into.newest, from.newest);
  if (from.oldest !== undefined && !(into.oldest! <= from.oldest)) into.oldest = from.oldest;
  into.told = Math.max(into.told, from.told);
  into.judged = Math.max(into.judged, from.judged);
  if (from.reported !== undefined) into.reported = Math.max(into.reported ?? 0, from.reported);
}

function takeUpload(day: Day, { bytes, bytesIn, peer, seq }: Day['upload']): void {
  const { upload } = day;
  if (bytes < upload.bytes || (bytes === upload.bytes && seq >= upload.seq)) return;
  upload.bytes = bytes;
  upload.bytesIn = bytesIn;
  upload.peer = peer;
  upload.seq = seq;
}

interface Found {
  readonly severity: Severity;
  readonly days: number;
  readonly median: number;
  readonly deviation: number;
  readonly most: number;
  readonly threshold: number;
  /** Destination with the most bytes. */
  readonly peer: string;
  /** Share of the bytes that went to `peer`, 0–1. */
  readonly share: number;
  readonly isNew: boolean;
}

function conclude({ slots }: Window<Day>, start: number, day: Day, how: How): Found | undefined {
  const before = slots.filter((other) => other.start < start && other.value.bytes > 0).map(({ value }) => value);
  const amounts = before.map(({ bytes }) => bytes).sort(ascending);
  const isLearning = amounts.length < exfiltration.learningDays;
  const middle = median(amounts);
  const deviation = 1.4826 * medianDeviation(amounts, middle);
  const most = amounts.at(-1) ?? 0;
  const threshold = isLearning
    ? Math.max(exfiltration.minBytesLearning[how], most * exfiltration.timesMost)
    : Math.max(
        exfiltration.minBytes[how],
        middle + exfiltration.deviations * deviation,
        middle * exfiltration.timesMedian,
        most * exfiltration.timesMost,
      );
  const isUpload = how === 'sent' && day.upload.bytes > most * exfiltration.timesMost;
  if (day.bytes < threshold && !isUpload) return undefined;
  const { peer, bytes } = largest(day.to);
  const share = Math.min(1, bytes / day.bytes);
  const isNew = peer !== '' && before.every(({ to }) => !to.names.includes(peer));
  const figures = { days: amounts.length, median: isLearning ? 0 : middle, deviation, most, threshold };
  const isOne = share >= exfiltration.concentrated && how === 'sent';
  return { ...figures, severity: severityOf(), peer, share, isNew, ...(isLearning ? { deviation: 0 } : {}) };

  function severityOf(): Severity {
    if (isLearning || day.bytes < threshold) return 'low';
    if (!isOne || !isNew) return how === 'sent' && isOne ? 'medium' : 'low';
    const { grave } = exfiltration;
    return day.bytes >= grave.timesMedian * middle && day.bytes >= grave.bytes ? 'high' : 'medium';
  }
}

function largest({ names, amounts }: Largest): { readonly peer: string; readonly bytes: number } {
  let at = -1;
  for (let i = 0; i < names.length; i++)
    if (at < 0 || amounts[i]! > amounts[at]! || (amounts[i] === amounts[at] && names[i]! < names[at]!)) at = i;
  return at < 0 ? { peer: '', bytes: 0 } : { peer: names[at]!, bytes: amounts[at]! };
}

function sight(host: string, how: How, day: Day, found: Found): Detection {
  const { peer, share, isNew, days, threshold } = found;
  const usual =
    days < exfiltration.learningDays
      ? `There is no baseline after only ${days} ${days === 1 ? 'day' : 'days'}.`
      : `This is ${times(day.bytes, found.median)} its median of other days (${inWords(found.median)}).`;
  const whereTo =
    peer === ''
      ? ''
      : ` ${Math.round(share * 100)} % of the data went to ${peer}${isNew ? ', which never received a large share from this host before' : ''}.`;
  const isOne = share >= exfiltration.concentrated && peer !== '';
  const seqs = [...new Set([day.firstSeq, day.upload.bytes > 0 ? day.upload.seq : day.firstSeq, day.lastSeq])];
  return {
    title: isOne
      ? `${host} sent an unusual amount of data to ${peer}`
      : `${host} sent an unusual amount of data to the outside`,
    description:
      `${inWords(day.bytes)} left ${host} within a day, in connections that ` +
      `${how === 'sent' ? 'it opened' : 'other hosts opened to it'}. ${usual}${whereTo} ` +
      'Data may have been stolen, or a backup or file transfer was set up: ' +
      'find out who started the transfer and what was sent.',
    severity: found.severity,
    confidence: { informational: 0.2, low: 0.4, medium: 0.6, high: 0.8, critical: 0.9 }[found.severity],
    timestamp: day.newest,
    ...(day.oldest === undefined ? {} : { began: day.oldest }),
    ends: { src_ip: host, ...(isOne ? { dst_ip: peer } : {}) },
    keyed_by: ['src_ip'],
    evidence: {
      bytes_out: Math.round(day.bytes),
      bytes_in: Math.round(day.bytesIn),
      threshold: Math.round(threshold),
      baseline_days: days,
      baseline_median: Math.round(found.median),
      baseline_deviation: Math.round(found.deviation),
      baseline_most: Math.round(found.most),
      connections_opened_by: how === 'sent' ? 'host' : 'others',
      destinations: destinationsOf(day.to),
      largest_destination_share: Math.round(share * 1000) / 1000,
      is_new_destination: isNew,
      ...(day.upload.bytes === 0
        ? {}
        : {
            largest_upload_bytes: Math.round(day.upload.bytes),
            largest_upload_bytes_in: Math.round(day.upload.bytesIn),
            largest_upload_to: day.upload.peer,
          }),
    },
    events: seqs.sort(ascending).map((seq) => ({ table: 'network', seq })),
  };
}

/** Returns `address bytes` for each destination, largest first. */
function destinationsOf({ names, amounts }: Largest): string[] {
  return names
    .map((name, i) => [name, amounts[i]!] as const)
    .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    .map(([name, bytes]) => `${name} ${Math.min(mostInDay, Math.round(bytes))}`);
}

function times(bytes: number, middle: number): string {
  const factor = bytes / Math.max(1, middle);
  return factor > 1000 ? 'more than 1,000 times' : `${factor < 10 ? factor.toFixed(1) : Math.round(factor)} times`;
}

function inWords(bytes: number): string {
  if (bytes >= 1_000 * megabyte) return `${(bytes / 1e9).toFixed(1)} GB`;
  return bytes >= megabyte ? `${Math.round(bytes / megabyte)} MB` : `${Math.round(bytes / 1000)} KB`;
}
