import type { Severity } from '../../../contract/vocabulary.ts';
import { durationText } from '../../../duration.ts';
import type { Detection } from '../detector.ts';
import type { Pair } from './beacon-pair.ts';
import type { BeaconScore } from './beacon-score.ts';

const hourS = 3600;

/** The result of an evaluation. */
interface Seen {
  readonly severity: Severity;
  /** Minimum score, including the modifier, for a report. */
  readonly threshold: number;
  readonly score: BeaconScore;
  readonly modifier: number;
  readonly users: number;
  readonly hosts: number;
  readonly share: number | undefined;
}

export function beaconDetection(pair: Pair, seen: Seen): Detection {
  const { severity, score, threshold, modifier, users, hosts, share } = seen;
  const { src, dst, port, count } = pair;
  const hoursLong = Math.round((pair.to - Math.max(pair.first, pair.to - 24 * hourS)) / hourS);
  return {
    ...common(pair),
    title: `Beacon from ${src} to ${dst}:${port}`,
    description:
      `${src} connected to ${dst}:${port} ${count} times in ${hoursLong} hours, about every ` +
      `${durationText(score.interval * 1000)}, sending about ${Math.round(score.size)} bytes each time. ` +
      'Malware polls its C2 server like this; update checks, monitors and telemetry do the same. ' +
      `Find out which program on ${src} connects, and who owns ${dst}.`,
    severity,
    confidence: Math.min(1, Math.max(0, Math.round((score.score + modifier) * 100) / 100)),
    evidence: {
      score: score.score,
      timestamp_score: score.timestamps,
      data_size_score: score.sizes,
      histogram_score: score.histogram,
      duration_score: score.duration,
      connections: count,
      connections_scored: pair.times.length,
      interval_seconds: score.interval,
      interval_deviation_seconds: score.intervalDeviation,
      median_bytes_out: score.size,
      bytes_out: pair.srcBytes,
      bytes_in: pair.dstBytes,
      histogram: score.bars,
      window_from: Math.max(pair.first, pair.to - 24 * hourS) * 1000,
      window_to: pair.to * 1000,
      first_seen: pair.first * 1000,
      direction: pair.direction,
      score_modifier: modifier,
      threshold,
      ...(share === undefined
        ? {}
        : {
            prevalence: Math.round(share * 1000) / 1000,
            hosts_using_destination: users,
            hosts_seen: hosts,
          }),
    },
  };
}

export function strobeDetection(pair: Pair, threshold: number): Detection {
  const { src, dst, port, count } = pair;
  return {
    ...common(pair),
    title: `Strobe from ${src} to ${dst}:${port}`,
    description:
      `${src} connected to ${dst}:${port} ${count} times within a day, more than once a second. ` +
      'Programs that retry after errors do this, as does some malware. ' +
      `Find out which program on ${src} does it.`,
    severity: 'low',
    confidence: 0.5,
    evidence: {
      connections: count,
      threshold,
      bytes_out: pair.srcBytes,
      bytes_in: pair.dstBytes,
      direction: pair.direction,
    },
  };
}

function common({
  src,
  dst,
  port,
  transport,
  first,
  to,
  events,
}: Pair): Pick<Detection, 'timestamp' | 'began' | 'ends' | 'about' | 'events'> {
  return {
    timestamp: to * 1000,
    began: first * 1000,
    ends: { src_ip: src, dst_ip: dst, dst_port: port, ...(transport === '' ? {} : { transport }) },
    about: `${transport} ${port}`,
    events,
  };
}
