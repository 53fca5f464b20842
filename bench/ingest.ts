/**
 * How much does it cost to turn a sensor's lines into storable blocks, in one thread? Lines are generated in the format
 * of the sensors; the figure is microseconds per line for all work from the bytes to the finished blocks. `JSON.parse`
 * alone is the lower bound.
 */
import { gzipSync } from 'node:zlib';
import { findSuricataAlert } from '../src/detect/suricata-alert.ts';
import { findZeekNotice } from '../src/detect/zeek-notice.ts';
import { type IngestInput, parseBody } from '../src/ingest/parse-body.ts';
import { type BenchRow, rowOfRounds } from './result.ts';

const question = 'µs per line, from bytes to blocks, one thread';
const lines = 20_000;
const rounds = 9;
const detectors = { suricataAlert: findSuricataAlert, zeekNotice: findZeekNotice };

export async function run(): Promise<BenchRow[]> {
  const conn = body(zeekConn);
  const rows: BenchRow[] = [
    row(
      'JSON.parse alone, Zeek conn',
      perLine(() => parseOnly(conn)),
    ),
    row(
      'Zeek conn, JSON',
      perLine(() => parse(conn)),
    ),
    row(
      'Zeek conn, JSON, gzip',
      perLine(() => parse(gzipped(conn), { encoding: 'gzip' }), gzipped(conn)),
    ),
    row(
      'Zeek conn, JSON, in an array',
      perLine(() => parse(array(conn), { mediaType: 'json' }), array(conn)),
    ),
    row(
      'Zeek conn, TSV',
      perLine(() => parse(tsv()), tsv()),
    ),
    row(
      'Zeek dns, JSON',
      perLine(() => parse(body(zeekDns)), body(zeekDns)),
    ),
    row(
      'Suricata flow',
      perLine(() => parse(body(eveFlow)), body(eveFlow)),
    ),
    row(
      'Suricata dns, format 2',
      perLine(() => parse(body(eveDns)), body(eveDns)),
    ),
    row(
      'Suricata alert, with its finding',
      perLine(() => parse(body(eveAlert)), body(eveAlert)),
    ),
    row(
      'native network event',
      perLine(() => parse(body(native)), body(native)),
    ),
    row(
      'bad lines (truncated)',
      perLine(() => parse(body(cutOff)), body(cutOff)),
    ),
  ];
  return rows;
}

function row(variant: string, times: readonly number[]): BenchRow {
  return rowOfRounds({ question, variant, unit: 'µs' }, times, (us) => Math.round(us * 100) / 100);
}

/**
 * Returns the microseconds per line of each round except the first, in which code is compiled. `_warm` is not used here:
 * callers create the input of `work` in this argument, before the time is measured.
 */
function perLine(work: () => void, _warm?: unknown): number[] {
  work();
  return Array.from({ length: rounds }, () => {
    const started = performance.now();
    work();
    return ((performance.now() - started) * 1000) / lines;
  });
}

function parse(bytes: Uint8Array, options: Partial<IngestInput> = {}): void {
  const own = new Uint8Array(bytes).buffer;
  const home = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', 'fe80::/10'];
  parseBody(
    {
      pieces: [own],
      length: own.byteLength,
      mediaType: 'ndjson',
      receivedAt: 1_767_225_600_000,
      home,
      digest: false,
      ...options,
    },
    detectors,
  );
}

function parseOnly(bytes: Buffer): void {
  for (let from = 0; from < bytes.length; ) {
    const end = bytes.indexOf(10, from);
    JSON.parse(bytes.toString('latin1', from, end));
    from = end + 1;
  }
}

const made = new Map<unknown, Buffer>();

function remember(key: unknown, make: () => Buffer): Buffer {
  const known = made.get(key) ?? make();
  made.set(key, known);
  return known;
}

const body = (line: (at: number) => string): Buffer =>
  remember(line, () => Buffer.from(Array.from({ length: lines }, (_, at) => `${line(at)}\n`).join('')));
const gzipped = (bytes: Buffer): Buffer => remember(`gzip ${bytes.length}`, () => gzipSync(bytes));
const array = (bytes: Buffer): Buffer =>
  remember(`array ${bytes.length}`, () => Buffer.from(`[${bytes.toString().trimEnd().replaceAll('\n', ',')}]`));

const client = (at: number): string => `10.0.${(at * 7) % 4}.${at % 250}`;
const server = (at: number): string => `198.51.${(at * 31) % 100}.${(at * 17) % 250}`;
const seconds = (at: number): number => 1_767_225_600 + at / 1000 + 0.000456;

function zeekConn(at: number): string {
  return JSON.stringify({
    ts: seconds(at),
    uid: `C${(at * 2_654_435_761).toString(36)}abcdefg`,
    'id.orig_h': client(at),
    'id.orig_p': 32768 + (at % 28000),
    'id.resp_h': server(at),
    'id.resp_p': at % 3 === 0 ? 443 : 80,
    proto: 'tcp',
    service: at % 3 === 0 ? 'ssl' : 'http',
    duration: (at % 5000) / 999,
    orig_bytes: at % 7919,
    resp_bytes: (at * 31) % 104_729,
    conn_state: at % 5 === 0 ? 'S0' : 'SF',
    local_orig: true,
    local_resp: false,
    missed_bytes: 0,
    history: 'ShADadFf',
    orig_pkts: at % 90,
    orig_ip_bytes: at % 9000,
    resp_pkts: at % 110,
    resp_ip_bytes: (at * 31) % 109_000,
  });
}

function zeekDns(at: number): string {
  return JSON.stringify({
    ts: seconds(at),
    uid: `C${(at * 2_654_435_761).toString(36)}abcdefg`,
    'id.orig_h': client(at),
    'id.orig_p': 32768 + (at % 28000),
    'id.resp_h': '10.0.0.53',
    'id.resp_p': 53,
    proto: 'udp',
    trans_id: at % 65536,
    rtt: 0.0123,
    query: `host${at % 500}.example.com`,
    qclass: 1,
    qclass_name: 'C_INTERNET',
    qtype: 1,
    qtype_name: 'A',
    rcode: 0,
    rcode_name: 'NOERROR',
    AA: false,
    TC: false,
    RD: true,
    RA: true,
    Z: 0,
    answers: ['cdn.example.net', server(at)],
    TTLs: [300, 60],
    rejected: false,
  });
}

function tsv(): Buffer {
  return remember('tsv', () => {
    const rows = body(zeekConn).toString().trimEnd().split('\n');
    const fields = Object.keys(JSON.parse(rows[0] as string));
    const types =
      'time string addr port addr port enum string interval count count string bool bool count string count count count count';
    const head = `#separator \\x09\n#set_separator\t,\n#path\tconn\n#fields\t${fields.join('\t')}\n#types\t${types.replaceAll(' ', '\t')}\n`;
    const cell = (value: unknown): string => (value === true ? 'T' : value === false ? 'F' : String(value));
    return Buffer.from(head + rows.map((line) => Object.values(JSON.parse(line)).map(cell).join('\t')).join('\n'));
  });
}

function eveFlow(at: number): string {
  return JSON.stringify({
    ...eve(at),
    event_type: 'flow',
    flow: { ...counters(at), end: iso(at + 500), age: 1, state: 'closed', reason: 'timeout', alerted: false },
    tcp: {
      tcp_flags: '1b',
      tcp_flags_ts: '1b',
      tcp_flags_tc: '1b',
      syn: true,
      fin: true,
      ack: true,
      state: 'closed',
    },
  });
}

function eveAlert(at: number): string {
  const rule = {
    action: 'allowed',
    gid: 1,
    signature_id: 2_000_000 + (at % 400),
    rev: 2,
    signature: `TEST rule number ${at % 400}`,
    category: 'Misc activity',
    severity: 1 + (at % 3),
    metadata: { created_at: ['2020_01_01'], signature_severity: ['Minor'] },
  };
  return JSON.stringify({
    ...eve(at),
    event_type: 'alert',
    alert: rule,
    app_proto: 'tls',
    flow: counters(at),
  });
}

function eveDns(at: number): string {
  const answers = [{ rrname: 'a.example', rrtype: 'A', ttl: 60, rdata: server(at) }];
  const dns = {
    version: 2,
    type: 'answer',
    id: at % 65536,
    flags: '8180',
    qr: true,
    rd: true,
    ra: true,
    rrname: `host${at % 500}.example.com`,
    rrtype: 'A',
    rcode: 'NOERROR',
    answers,
  };
  return JSON.stringify({ ...eve(at), event_type: 'dns', proto: 'UDP', dest_port: 53, dns });
}

const iso = (at: number): string => new Date(1_767_225_600_000 + at).toISOString().replace('Z', '456+0000');

function eve(at: number): object {
  return {
    timestamp: iso(at + 900),
    flow_id: 2 ** 50 + at,
    in_iface: 'eth0',
    event_type: '',
    src_ip: client(at),
    src_port: 32768 + (at % 28000),
    dest_ip: server(at),
    dest_port: 443,
    proto: 'TCP',
  };
}

function counters(at: number): object {
  return {
    pkts_toserver: at % 90,
    pkts_toclient: 1 + (at % 110),
    bytes_toserver: at % 9000,
    bytes_toclient: at % 109_000,
    start: iso(at),
  };
}

function native(at: number): string {
  return JSON.stringify({
    type: 'network_event',
    timestamp: new Date(1_767_225_600_000 + at).toISOString(),
    src_ip: client(at),
    src_port: 40000,
    dst_ip: server(at),
    dst_port: 443,
    transport: 'tcp',
    app_protocol: 'tls',
    src_bytes: at % 9000,
    dst_bytes: at % 109_000,
    state: 'closed',
    connection_id: `n${at}`,
  });
}

function cutOff(at: number): string {
  return zeekConn(at).slice(0, 200);
}
