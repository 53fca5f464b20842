import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { type TrafficOptions, traffic } from '../../../scripts/traffic/index.ts';
import type { ConnectionState } from '../../../src/contract/vocabulary.ts';
import type { Detection, Detector, Due, Emit, Flow } from '../../../src/detect/behaviour/detector.ts';
import { handshakeDone } from '../../../src/events/connection-state.ts';
import { compileHome } from '../../../src/net/home-networks.ts';
import { addressBytes } from '../../../src/net/ip.ts';

const shared = join(process.env.CANDOR_SHARED ?? '../shared', 'data');
export const realFiles = {
  internetHost: join(shared, 'zeek-internet-host/missing_host.conn.ndjson.gz'),
  lan: join(shared, 'zeek-lan/m57.conn.ndjson.gz'),
} as const;
export const hasRealFiles = existsSync(realFiles.internetHost) && existsSync(realFiles.lan);

/** The default of the setting `network.home`. */
const privateNetworks = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16', 'fc00::/7', 'fe80::/10'];

/**
 * Reads Zeek and Suricata lines into flows as detectors receive them: connections are tracked, and events are
 * numbered.
 */
class FlowReader {
  readonly #isHome: (address: string) => boolean;
  readonly #reported = new Map<string, { src: number; dst: number; answered: boolean }>();
  #seq = 0;

  constructor(home: readonly string[] = privateNetworks) {
    const isHome = compileHome(home);
    const known = new Map<string, boolean>();
    this.#isHome = (address) => {
      let inside = known.get(address);
      if (inside === undefined) {
        const bytes = addressBytes(address);
        inside = bytes !== undefined && isHome(bytes);
        known.set(address, inside);
      }
      return inside;
    };
  }

  /** Returns undefined unless the line is from a conn log or is a Suricata flow. */
  read(line: string): Flow | undefined {
    const record = JSON.parse(line) as Json;
    const flow =
      record.event_type === 'flow' ? ofSuricata(record) : record.conn_state === undefined ? undefined : ofZeek(record);
    return flow && this.#report(flow);
  }

  #report(flow: Flow): Flow {
    flow.seq = ++this.#seq;
    flow.srcHome = this.#isHome(flow.src);
    flow.dstHome = this.#isHome(flow.dst);
    const { srcBytes: src, dstBytes: dst, answered, connection = '' } = flow;
    const before = this.#reported.get(connection);
    if (before === undefined) {
      this.#reported.set(connection, { src, dst, answered });
      return flow;
    }
    flow.isFirst = false;
    flow.srcBytes = Math.max(0, src - before.src);
    flow.dstBytes = Math.max(0, dst - before.dst);
    flow.answered ||= before.answered;
    before.src = Math.max(src, before.src);
    before.dst = Math.max(dst, before.dst);
    before.answered = flow.answered;
    return flow;
  }
}

type Json = Record<string, unknown>;

function ofZeek(r: Json): Flow {
  const transport = String(r.proto);
  const state = String(r.conn_state);
  const srcBytes = count(r.orig_ip_bytes);
  const dstBytes = count(r.resp_ip_bytes);
  return aFlow({
    time: (r.ts as number) * 1000,
    duration: r.duration === undefined ? Number.NaN : (r.duration as number) * 1000,
    src: String(r['id.orig_h']),
    dst: String(r['id.resp_h']),
    port: transport === 'icmp' ? Number.NaN : (r['id.resp_p'] as number),
    transport,
    app: r.service as string | undefined,
    state: states[state],
    answered: transport === 'tcp' ? handshakeDone(state) === true : srcBytes > 0 && dstBytes > 0,
    srcBytes,
    dstBytes,
    connection: r.uid as string,
  });
}

function ofSuricata(r: Json): Flow {
  const f = r.flow as Json;
  const time = Date.parse(String(f.start));
  const replied = Number.parseInt(String((r.tcp as Json | undefined)?.tcp_flags_tc ?? '0'), 16);
  // A reset without a handshake.
  const isRefused = (replied & 0x04) !== 0 && (replied & 0x02) === 0;
  const answered = count(f.pkts_toclient) > 0 && f.state !== 'new' && !isRefused;
  return aFlow({
    time,
    duration: Date.parse(String(f.end)) - time,
    src: String(r.src_ip),
    dst: String(r.dest_ip),
    port: r.proto === 'ICMP' ? Number.NaN : (r.dest_port as number),
    transport: String(r.proto).toLowerCase(),
    app: r.app_proto as string | undefined,
    state: answered ? 'closed' : isRefused ? 'refused' : 'attempt',
    answered,
    srcBytes: count(f.bytes_toserver),
    dstBytes: count(f.bytes_toclient),
    connection: String(r.flow_id),
  });
}

const count = (value: unknown): number => (typeof value === 'number' ? value : 0);

const states: Readonly<Record<string, ConnectionState>> = {
  S0: 'attempt',
  S1: 'open',
  SF: 'closed',
  REJ: 'refused',
  S2: 'failed',
  S3: 'failed',
  SH: 'failed',
  SHR: 'failed',
  RSTO: 'reset',
  RSTR: 'reset',
  RSTOS0: 'reset',
  RSTRH: 'reset',
  OTH: 'traffic',
};

const parsed = new Map<string, readonly unknown[]>();

/** Reads events once per process: test files of one process share the events of a log, or of the generated traffic. */
export function readOnce<E>(name: string, read: () => Iterable<E>): readonly E[] {
  const known = parsed.get(name) as readonly E[] | undefined;
  if (known !== undefined) return known;
  const events = [...read()];
  parsed.set(name, events);
  return events;
}

/** Returns the connections of a log, in the order of its file. */
export const realFlows = (file: string, home?: readonly string[]): readonly Flow[] =>
  readOnce(`flows ${file} ${home}`, () => flowsIn(file, home));

function* flowsIn(file: string, home?: readonly string[]): Generator<Flow> {
  const reader = new FlowReader(home);
  for (const line of gunzipSync(readFileSync(file)).toString().trim().split('\n')) {
    const flow = reader.read(line);
    if (flow !== undefined) yield flow;
  }
}

export type OfficeOptions = Partial<TrafficOptions> & { readonly days: number; readonly attacks?: boolean };

/** Returns the connections of the traffic generator's office, starting on a Monday at midnight. */
export const officeFlows = (options: OfficeOptions): readonly Flow[] =>
  readOnce(`flows ${JSON.stringify(options)}`, () => flowsOfOffice(options));

function* flowsOfOffice(options: OfficeOptions): Generator<Flow> {
  const reader = new FlowReader();
  const start = options.start ?? Date.UTC(2026, 10, 16);
  for (const { time, line, truth } of traffic({ seed: 5, ...options, start })) {
    if (time >= start + options.days * 86_400_000) return;
    if (truth === 'sensor-alert' || (truth !== 'benign' && options.attacks !== true)) continue;
    const flow = reader.read(line);
    if (flow !== undefined) yield flow;
  }
}

/** Returns an ordinary outbound connection, with the test's changes. */
export function aFlow(what: Partial<Flow>): Flow {
  return {
    seq: 1,
    time: Date.UTC(2026, 10, 16, 9),
    duration: 1000,
    src: '10.0.0.5',
    dst: '203.0.113.7',
    srcHome: true,
    dstHome: false,
    port: 443,
    transport: 'tcp',
    app: undefined,
    state: 'closed',
    answered: true,
    isFirst: true,
    srcBytes: 500,
    dstBytes: 2000,
    connection: undefined,
    ...what,
  };
}

/**
 * Passes flows to a detector, evaluates the detector after every `every` flows and at the end, and returns
 * its findings without refreshes.
 */
export const detectionsOf = (detector: Detector, flows: Iterable<Flow>, every = 256): Detection[] =>
  withoutRefreshes(reports(detector, flows, (flow) => detector.flow?.(flow), every));

interface Report {
  readonly detection: Detection;
  readonly due: Due;
}

export const withoutRefreshes = (all: readonly Report[]): Detection[] =>
  all.filter(({ due }) => due === 'new' || due === 'graver').map(({ detection }) => detection);

/** Like `detectionsOf`, for events of any table and with refreshes. The last evaluation is a refresh. */
export function reports<E>(detector: Detector, events: Iterable<E>, give: (event: E) => void, every = 256): Report[] {
  const all: Report[] = [];
  const emit: Emit = (detection, due = 'new') => all.push({ detection, due });
  let count = 0;
  for (const event of events) {
    give(event);
    if (++count % every === 0) detector.evaluate(emit);
  }
  detector.evaluate(emit);
  detector.evaluate(emit, true);
  return all;
}
