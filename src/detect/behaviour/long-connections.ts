import { type Severity, severities } from '../../contract/vocabulary.ts';
import type { Detector, DetectorCard, Flow, Left, Sighted, Tell } from './detector.ts';
import { dueOf, Windows, type WindowsState } from './windows.ts';

const hourMs = 3_600_000;

/** What an analyst would turn. */
export const longConnections = {
  /** Reached one after the other, each is told as graver; the first four are RITA's. */
  hours: [1, 4, 8, 12, 24],
  /** By what the port is for, for each of the hours: nothing where it isn't worth telling. */
  severities: {
    /** Nobody knows why it should stay open. */
    unknown: ['informational', 'low', 'medium', 'high', 'high'],
    /** People sit at the other end, and go home at night. */
    remote: ['informational', 'low', 'medium', 'medium', 'high'],
    /** Made to stay open: web sockets, waiting for mail or calls, push messages, tunnels of a VPN. */
    kept: [undefined, undefined, 'informational', 'low', 'low'],
  },
  remotePorts: new Set([22, 23, 2222, 3389, 5900, 5901, 5938]),
  keptPorts: new Set([
    80, 143, 443, 500, 853, 993, 1194, 1701, 1723, 1883, 3478, 4500, 5060, 5061, 5222, 5223, 5228, 8080, 8443,
    8883, 51820,
  ]),
  /** Protocols that nothing made to stay open speaks; on one of the ports above they are unknown. */
  outOfPlace: new Set(['ssh', 'rdp', 'rfb', 'telnet', 'irc', 'socks']),
  /** Of which sensors make one connection while the same ports are used: DNS, NTP. */
  ignoredPorts: new Set([53, 123]),
  /** Open connections that are remembered. */
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
  /** Of its beginning, epoch milliseconds. */
  time: number;
  /** Milliseconds. */
  duration: number;
  /** In the reports from its first hour on. */
  reports: number;
  srcBytes: number;
  dstBytes: number;
  firstSeq: number;
  lastSeq: number;
}

/**
 * Connections that stay open for hours and have an end outside: one finding a connection, which grows with it. Sensors
 * report an open connection again, many of them hourly: these reports are one connection by its id, or by its ends and
 * its beginning where it has none. Connections between home hosts stay open as they please and are not told.
 *
 * Memory: at most 8,192 connections of an hour and more, 1.4 KB each where all texts are long, 11 MB; those reported longest ago go first, and
 * would be told again.
 */
export class LongConnectionsDetector implements Detector {
  readonly card: DetectorCard = {
    id: 'long-connection',
    version: 1,
    name: 'Long connection',
    category: 'command-and-control',
    mitre: { tactics: ['TA0011'], techniques: ['T1071'] },
  };
  readonly #connections = new Windows<Connection>({
    slotMs: 24 * hourMs,
    slots: 1,
    maxKeys: longConnections.maxConnections,
    create: unseen,
    merge: take,
  });

  get left(): Left {
    return this.#connections.left;
  }

  flow(flow: Readonly<Flow>): void {
    if (!(flow.duration >= shortest) || !flow.answered || (flow.srcHome && flow.dstHome)) return;
    const { src, dst, port, transport, time } = flow;
    if (!(port > 0) || longConnections.ignoredPorts.has(port)) return;
    const id = flow.connection?.slice(0, 64) ?? '';
    const connection = this.#connections.at(`${id} ${src} ${dst} ${port} ${transport} ${time}`, time);
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

  judge(tell: Tell, refreshes?: boolean): void {
    for (const window of this.#connections.changed(refreshes))
      for (const { value: connection } of window.slots) {
        const severity = severityOf(connection);
        if (severity === undefined) continue;
        const rank = severities.indexOf(severity);
        const due = dueOf(window, rank, connection.time, Number.POSITIVE_INFINITY, connection.duration);
        if (due !== undefined) tell(sight(connection, severity), due);
      }
  }

  state(): WindowsState<Connection> {
    return this.#connections.state();
  }

  restore(state: WindowsState<Connection>): void {
    this.#connections.restore(state);
  }

  merge(state: WindowsState<Connection>): void {
    this.#connections.merge(state);
  }
}

const shortest = longConnections.hours[0] * hourMs;

/** Durations are sensors' word: none of them moves an alert further than this from its connection's beginning. */
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

/** Adds other reports of the same connection. */
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
  unknown:
    'Nothing that is known to use this port stays connected for so long; a remote control of malware does.',
  remote: 'Somebody may have left a session open, or a tunnel may lead through it.',
  kept: 'Services on this port are made to stay connected, and so are tunnels that hide among them.',
};

function sight(connection: Connection, severity: Severity): Sighted {
  const { src, dst, port, transport, app, time, duration, direction, firstSeq, lastSeq } = connection;
  const kind = kindOf(connection);
  const hours = Math.floor(duration / hourMs);
  const inside = direction === 'inbound' ? dst : src;
  return {
    title: `Connection from ${src} to ${dst}:${port} stays open`,
    description:
      `${src} has been connected to ${dst}:${port}${app === '' ? '' : ` (${app})`} for ${hours} ` +
      `${hours === 1 ? 'hour' : 'hours'}. ${whatItIs[kind]} ` +
      `Ask which program on ${inside} holds it, and whether somebody knows the other end.`,
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
