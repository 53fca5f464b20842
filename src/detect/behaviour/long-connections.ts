import { type Severity, severities } from '../../contract/vocabulary.ts';
import type { Detection, Detector, DetectorCard, Emit, Flow } from './detector.ts';
import { WindowedDetector } from './support/windowed-detector.ts';
import { dueOf, Windows } from './support/windows.ts';

const hourMs = 3_600_000;

/** Tunable thresholds. */
export const longConnections = {
  /** Duration thresholds in hours, by ascending severity. The first four are RITA's. */
  hours: [1, 4, 8, 12, 24],
  /** Severity by kind of port, one for each of the `hours`; undefined if the duration is not reported. */
  severities: {
    /** Ports without a known reason for long connections. */
    unknown: ['informational', 'low', 'medium', 'high', 'high'],
    /** Remote access ports. Users of these ports log out at night. */
    remote: ['informational', 'low', 'medium', 'medium', 'high'],
    /**
     * Ports of connections that are meant to stay open: web sockets, waiting for mail or calls, push
     * messages, VPN tunnels.
     */
    kept: [undefined, undefined, 'informational', 'low', 'low'],
  },
  remotePorts: new Set([22, 23, 2222, 3389, 5900, 5901, 5938]),
  keptPorts: new Set([
    80, 143, 443, 500, 853, 993, 1194, 1701, 1723, 1883, 3478, 4500, 5060, 5061, 5222, 5223, 5228, 8080, 8443, 8883,
    51820,
  ]),
  /**
   * Protocols that are not meant to stay open. A connection with such a protocol counts as `unknown` even on a port in
   * `keptPorts`.
   */
  outOfPlace: new Set(['ssh', 'rdp', 'rfb', 'telnet', 'irc', 'socks']),
  /**
   * Ports of DNS and NTP. Sensors combine exchanges on these ports into one connection while both ports stay the same.
   */
  ignoredPorts: new Set([53, 123]),
  /** Maximum connections. */
  maxConnections: 8_192,
} as const;

type Kind = keyof typeof longConnections.severities;

/** One connection, as of its newest report. */
interface Connection {
  src: string;
  dst: string;
  port: number;
  transport: string;
  app: string;
  direction: 'outbound' | 'inbound' | 'external';
  /** Start of the connection, epoch milliseconds. */
  time: number;
  /** Duration in milliseconds. */
  duration: number;
  /** Number of sensor reports about the connection after its first hour. */
  reports: number;
  srcBytes: number;
  dstBytes: number;
  firstSeq: number;
  lastSeq: number;
}

/**
 * Reports connections with an outside address that stay open for hours: one finding per connection, refreshed as the
 * connection grows. Sensors report an open connection repeatedly, many sensors hourly. Reports of one connection are
 * matched by its id, or without an id by the addresses and the start time. Long connections between home hosts are
 * normal and not reported.
 *
 * Memory: at most 8,192 connections of an hour or more, 1.4 KB each if all texts are long, 11 MB. The connections with
 * the oldest sensor reports are dropped first. A further report of a dropped connection makes a new finding.
 */
export class LongConnectionsDetector extends WindowedDetector<Connection> implements Detector {
  readonly card: DetectorCard = {
    id: 'long-connection',
    version: 1,
    name: 'Long connection',
    category: 'command-and-control',
    mitre: { tactics: ['TA0011'], techniques: ['T1071'] },
  };
  protected readonly windows = new Windows<Connection>({
    slotMs: 24 * hourMs,
    slots: 1,
    maxKeys: longConnections.maxConnections,
    create: unseen,
    merge: take,
  });

  flow(flow: Readonly<Flow>): void {
    if (!(flow.duration >= shortest) || !flow.answered || (flow.srcHome && flow.dstHome)) return;
    const { src, dst, port, transport, time } = flow;
    if (!(port > 0) || longConnections.ignoredPorts.has(port)) return;
    const id = flow.connection?.slice(0, 64) ?? '';
    const connection = this.windows.at(`${id} ${src} ${dst} ${port} ${transport} ${time}`, time);
    if (connection === undefined) return;
    take(connection, {
      src,
      dst,
      port,
      transport,
      app: flow.app?.slice(0, 64) ?? '',
      direction: flow.srcHome ? 'outbound' : flow.dstHome ? 'inbound' : 'external',
      time,
      duration: flow.duration,
      reports: 1,
      srcBytes: flow.srcBytes,
      dstBytes: flow.dstBytes,
      firstSeq: flow.seq,
      lastSeq: flow.seq,
    });
  }

  evaluate(emit: Emit, refreshes?: boolean): void {
    for (const window of this.windows.changed(refreshes))
      for (const { value: connection } of window.slots) {
        const severity = severityOf(connection);
        if (severity === undefined) continue;
        const rank = severities.indexOf(severity);
        const due = dueOf(window, rank, connection.time, Number.POSITIVE_INFINITY, connection.duration);
        if (due !== undefined) emit(sight(connection, severity), due);
      }
  }
}

const shortest = longConnections.hours[0] * hourMs;

/**
 * Maximum time from the start of a connection to the time of its alert. Without this limit, a wrong duration from a
 * sensor could move an alert far into the future.
 */
const longestMs = 31 * 24 * hourMs;

function unseen(): Connection {
  return {
    src: '',
    dst: '',
    port: Number.NaN,
    transport: '',
    app: '',
    direction: 'external',
    time: 0,
    duration: 0,
    reports: 0,
    srcBytes: 0,
    dstBytes: 0,
    firstSeq: Number.POSITIVE_INFINITY,
    lastSeq: Number.NEGATIVE_INFINITY,
  };
}

/** Adds the figures of other reports about the same connection. */
function take(into: Connection, from: Connection): void {
  into.src = from.src;
  into.dst = from.dst;
  into.port = from.port;
  into.transport = from.transport;
  into.direction = from.direction;
  into.time = from.time;
  if (from.app > into.app) into.app = from.app;
  into.duration = Math.max(into.duration, from.duration);
  into.reports += from.reports;
  into.srcBytes += from.srcBytes;
  into.dstBytes += from.dstBytes;
  into.firstSeq = Math.min(into.firstSeq, from.firstSeq);
  into.lastSeq = Math.max(into.lastSeq, from.lastSeq);
}

function severityOf(connection: Connection): Severity | undefined {
  const grade = longConnections.hours.findLastIndex((hours) => connection.duration >= hours * hourMs);
  return longConnections.severities[kindOf(connection)][grade];
}

function kindOf({ port, app }: Connection): Kind {
  const { remotePorts, keptPorts, outOfPlace } = longConnections;
  if (remotePorts.has(port)) return 'remote';
  return keptPorts.has(port) && !app.split(',').some((word) => outOfPlace.has(word)) ? 'kept' : 'unknown';
}

const whatItIs: Readonly<Record<Kind, string>> = {
  unknown: 'No known service on this port stays connected for so long; malware under remote control does.',
  remote: 'A user may have left a session open, or the connection may carry a tunnel.',
  kept: 'Services on this port are made to stay connected, as are tunnels that imitate them.',
};

function sight(connection: Connection, severity: Severity): Detection {
  const { src, dst, port, transport, app, time, duration, direction, firstSeq, lastSeq } = connection;
  const kind = kindOf(connection);
  const hours = Math.floor(duration / hourMs);
  const inside = direction === 'inbound' ? dst : src;
  return {
    title: `Long connection from ${src} to ${dst}:${port}`,
    description:
      `${src} has been connected to ${dst}:${port}${app === '' ? '' : ` (${app})`} for ${hours} ` +
      `${hours === 1 ? 'hour' : 'hours'}. ${whatItIs[kind]} ` +
      `Find out which program on ${inside} holds the connection, and who owns the other end.`,
    severity,
    confidence: { unknown: 0.6, remote: 0.5, kept: 0.3 }[kind],
    timestamp: time + Math.min(duration, longestMs),
    began: time,
    ends: { src_ip: src, dst_ip: dst, dst_port: port, ...(transport === '' ? {} : { transport }) },
    evidence: {
      duration_hours: Math.round(duration / 36_000) / 100,
      thresholds_hours: longConnections.hours,
      began: Math.round(time),
      reports: connection.reports,
      bytes_out: Math.round(connection.srcBytes),
      bytes_in: Math.round(connection.dstBytes),
      direction,
      port_kind: kind,
      ...(app === '' ? {} : { app_protocol: app }),
    },
    events: [...new Set([firstSeq, lastSeq])].map((seq) => ({ table: 'network', seq })),
  };
}
