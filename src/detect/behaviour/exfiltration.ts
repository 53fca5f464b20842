import { type Severity, severities } from '../../contract/vocabulary.ts';
import { linkBytes } from '../../events/carried.ts';
import type { Detector, DetectorCard, Flow, Left, Sighted, Tell } from './detector.ts';
import { addTo, type Largest, mergeInto, noneYet } from './largest-few.ts';
import { OfBlock } from './of-block.ts';
import { ascending, median, medianDeviation } from './order-statistics.ts';
import { ByParts } from './window-index.ts';
import { type Window, Windows, type WindowsState } from './windows.ts';

const dayMs = 86_400_000;
const megabyte = 1_000_000;
const mostInDay = linkBytes(dayMs);

/** What an analyst would turn. */
export const exfiltration = {
  /** Of a day, by who connected: less is not worth a look. Servers send much to whoever comes. */
  minBytes: { sent: 100 * megabyte, served: 500 * megabyte },
  /** While there is no baseline, only this much is told: a host that is new may well copy all that it has. */
  minBytesLearning: { sent: 2_000 * megabyte, served: 20_000 * megabyte },
  /** Days before it on which the host sent anything, without which there is no baseline. */
  learningDays: 4,
  /** Days that make the baseline. */
  baselineDays: 14,
  /** What a day must exceed: the median by so many standard deviations (estimated by the median deviation) … */
  deviations: 8,
  /** … and by this factor, as some hosts send nearly the same each day … */
  timesMedian: 3,
  /** … and the most of any of the days, as some copy things once a week. */
  timesMost: 1.5,
  /** Of a day's bytes that went to one destination: a robber has one, a working day many. */
  concentrated: 0.6,
  /** As graver: so many times the median, to a destination of its own that is new to the host. */
  grave: { timesMedian: 10, bytes: 1_000 * megabyte },
  /** One report of a connection with so many bytes out, and so many times what came in, is an upload by itself. */
  upload: { bytes: 250 * megabyte, ratio: 20 },
  /** Reports with fewer bytes out are not remembered by their destination. */
  minReport: 16_384,
  /** Destinations of a host and day that are remembered, the largest. */
  destinations: 8,
} as const;

/** Hosts, twice where they both send and serve, and what they may weigh together in units of 100 bytes. */
const room = { maxKeys: 8_192, maxWeight: 120_000 } as const;

type How = 'sent' | 'served';

/** What left one host in the connections that began on one day. */
interface Day {
  bytes: number;
  bytesIn: number;
  readonly to: Largest;
  /** The largest report that is an upload by itself. */
  upload: { bytes: number; bytesIn: number; peer: string; seq: number };
  firstSeq: number;
  lastSeq: number;
  newest: number;
  /** Time of the first; absent in states of earlier versions. */
  oldest?: number;
  /** Rank of the severity that it was told with; -1 before. */
  told: number;
  /** Bytes when it was judged last … */
  judged: number;
  /** … and when it was reported last; absent in states of earlier versions. */
  reported?: number;
}

/**
 * Home hosts from which far more goes outside in a day than on their other days: against the median and the median
 * deviation of the host's own days, of the two weeks before, in connections that it opened (sent) and that came to it
 * (served), each by itself. A single destination, and one that the host sent nothing larger to before, make it graver.
 *
 * A connection counts for the day in which it began, whatever is reported of it later, so that the order in which reports
 * come changes nothing. Destinations are kept for the largest (space saving of Metwally et al. 2005: a share is too high
 * by an eighth at most), and only of reports of 16 KB and more.
 *
 * Memory: at most 8,192 hosts and 120,000 units of 100 bytes, 13.5 MB: about 2,500 hosts of two weeks; those idle longest go.
 */
export class ExfiltrationDetector implements Detector {
  readonly card: DetectorCard = {
    id: 'exfiltration',
    version: 1,
    name: 'Unusual amount of data sent out',
    category: 'exfiltration',
    mitre: { tactics: ['TA0010'], techniques: ['T1048', 'T1567'] },
  };
  readonly #byHost = new ByParts<Day, How, string>({
    write: (how, host) => `${host} ${how}`,
    read: (key) => [key.endsWith(' sent') ? 'sent' : 'served', key.slice(0, key.indexOf(' '))],
  });
  readonly #sentOfBlock = new OfBlock<Window<Day>>();
  readonly #servedOfBlock = new OfBlock<Window<Day>>();
  readonly #days = new Windows<Day>({
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
  get left(): Left {
    return this.#days.left;
  }

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

  judge(tell: Tell, refreshes?: boolean): void {
    for (const window of this.#days.changed(refreshes)) {
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
        tell(sight(window.second as string, how, day, found), due);
      }
    }
  }

  state(): WindowsState<Day> {
    return this.#days.state();
  }

  restore(state: WindowsState<Day>): void {
    this.#sentOfBlock.forget();
    this.#servedOfBlock.forget();
    this.#days.restore(state);
  }

  merge(state: WindowsState<Day>): void {
    this.#days.merge(state);
  }

  #dayOf(
    host: string,
    how: How,
    { time, block }: Readonly<Flow>,
    ofBlock: OfBlock<Window<Day>>,
    place: number | undefined,
  ): Day | undefined {
    const known = ofBlock.get(block, place);
    if (known !== undefined && !known.isForgotten) return this.#days.in(known, time);
    const day = this.#days.of(this.#byHost, how, host, time);
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
  /** Where most of it went, and what share. */
  readonly peer: string;
  readonly share: number;
  readonly isNew: boolean;
}

function conclude({ slots }: Window<Day>, start: number, day: Day, how: How): Found | undefined {
  const before = slots
    .filter((other) => other.start < start && other.value.bytes > 0)
    .map(({ value }) => value);
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
    if (at < 0 || amounts[i]! > amounts[at]! || (amounts[i] === amounts[at] && names[i]! < names[at]!))
      at = i;
  return at < 0 ? { peer: '', bytes: 0 } : { peer: names[at]!, bytes: amounts[at]! };
}

function sight(host: string, how: How, day: Day, found: Found): Sighted {
  const { peer, share, isNew, days, threshold } = found;
  const usual =
    days < exfiltration.learningDays
      ? `What is usual for it is not known yet, after ${days} ${days === 1 ? 'day' : 'days'}.`
      : `It is ${times(day.bytes, found.median)} what leaves it on other days (${inWords(found.median)}).`;
  const whereTo =
    peer === ''
      ? ''
      : ` ${Math.round(share * 100)} % of it went to ${peer}${isNew ? ', which got nothing larger from it before' : ''}.`;
  const isOne = share >= exfiltration.concentrated && peer !== '';
  const seqs = [
    ...new Set([day.firstSeq, day.upload.bytes > 0 ? day.upload.seq : day.firstSeq, day.lastSeq]),
  ];
  return {
    title: isOne
      ? `${host} sent an unusual amount of data to ${peer}`
      : `${host} sent an unusual amount of data outside`,
    description:
      `${inWords(day.bytes)} left ${host} within a day, in connections that ` +
      `${how === 'sent' ? 'it opened' : 'others opened to it'}. ${usual}${whereTo} ` +
      'Data may have been stolen, or a backup or a transfer of files was set up: ask who did it, and what was sent.',
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

/** `address bytes`, the largest first. */
function destinationsOf({ names, amounts }: Largest): string[] {
  return names
    .map((name, i) => [name, amounts[i]!] as const)
    .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    .map(([name, bytes]) => `${name} ${Math.min(mostInDay, Math.round(bytes))}`);
}

function times(bytes: number, middle: number): string {
  const factor = bytes / Math.max(1, middle);
  return factor > 1000
    ? 'more than 1,000 times'
    : `${factor < 10 ? factor.toFixed(1) : Math.round(factor)} times`;
}

function inWords(bytes: number): string {
  if (bytes >= 1_000 * megabyte) return `${(bytes / 1e9).toFixed(1)} GB`;
  return bytes >= megabyte ? `${Math.round(bytes / megabyte)} MB` : `${Math.round(bytes / 1000)} KB`;
}
