/** Converts Zeek lines (conn, dns, http) to the Suricata EVE lines for the same traffic. */
import { isIP } from 'node:net';
import { rcodeNameOf, typeNameOf } from '../../src/ingest/dns-codes.ts';

export type SensorFormat = 'Zeek' | 'Suricata';

/** Functions that convert a Zeek line to the format of each sensor. */
export const inFormat: Readonly<Record<SensorFormat, (line: string) => string>> = {
  Zeek: (line) => line,
  Suricata: (line) => JSON.stringify(eveRecord(JSON.parse(line))),
};

interface Connection {
  readonly ts: number;
  readonly uid: string;
  readonly 'id.orig_h': string;
  readonly 'id.orig_p': number;
  readonly 'id.resp_h': string;
  readonly 'id.resp_p': number;
  readonly proto?: string;
}
interface Conn extends Connection {
  readonly service?: string;
  readonly duration?: number;
  readonly conn_state?: string;
  readonly history?: string;
  readonly orig_pkts: number;
  readonly resp_pkts: number;
  readonly orig_ip_bytes: number;
  readonly resp_ip_bytes: number;
}
interface Dns extends Connection {
  readonly trans_id?: number;
  readonly query?: string;
  readonly qtype?: number;
  readonly qtype_name?: string;
  readonly rcode?: number;
  readonly answers?: readonly string[];
  readonly TTLs?: readonly number[];
}
interface Http extends Connection {
  readonly method: string;
  readonly host?: string;
  readonly uri?: string;
}

function eveRecord(record: Conn | Dns | Http): object {
  if ('orig_pkts' in record) return flow(record);
  return 'method' in record ? http(record) : dns(record);
}

/** TCP flow.state by Zeek's conn_state, and the history to use if the line has none. */
const states: Readonly<Record<string, readonly [state: string, history: string]>> = {
  S0: ['new', 'S'],
  S1: ['established', 'ShADad'],
  SF: ['closed', 'ShADadFf'],
  REJ: ['closed', 'Sr'],
  S2: ['established', 'ShADadF'],
  S3: ['established', 'ShADadf'],
  RSTO: ['closed', 'ShADadR'],
  RSTR: ['closed', 'ShADadr'],
  RSTOS0: ['closed', 'SR'],
  RSTRH: ['closed', 'hr'],
  SH: ['new', 'SF'],
  SHR: ['new', 'hf'],
  OTH: ['new', 'Aa'],
};

/** TCP flags by lower-case letter of Zeek's history. In a history, upper-case letters are packets from the client. */
const flagsByLetter: Readonly<Record<string, number>> = {
  s: 0x02,
  h: 0x12,
  a: 0x10,
  d: 0x18,
  f: 0x11,
  r: 0x14,
};
const flagsOf = (history: string) =>
  Array.from(history).reduce((all, letter) => all | (flagsByLetter[letter.toLowerCase()] ?? 0), 0);
const hex = (flags: number) => flags.toString(16).padStart(2, '0');

function flow(conn: Conn): object {
  const { ts, proto, service, duration = 0, conn_state = 'S1', orig_pkts, resp_pkts } = conn;
  const [state, usual] = states[conn_state]!;
  const history = conn.history ?? usual;
  const client = flagsOf(history.replace(/[a-z]/g, ''));
  const server = flagsOf(history.replace(/[A-Z]/g, ''));
  const isTcp = proto === 'tcp';
  return {
    ...envelope('flow', conn, ts + duration),
    ...(service === undefined ? {} : { app_proto: service === 'ssl' ? 'tls' : service }),
    flow: {
      pkts_toserver: orig_pkts,
      pkts_toclient: resp_pkts,
      bytes_toserver: conn.orig_ip_bytes,
      bytes_toclient: conn.resp_ip_bytes,
      start: iso(ts),
      end: iso(ts + duration),
      state: isTcp ? state : orig_pkts > 0 && resp_pkts > 0 ? 'established' : 'new',
    },
    ...(isTcp && {
      tcp: { tcp_flags: hex(client | server), tcp_flags_ts: hex(client), tcp_flags_tc: hex(server) },
    }),
  };
}

/** Returns a DNS record in EVE format 2: an answer if Zeek saw a reply, otherwise a query. */
function dns(lookup: Dns): object {
  const { trans_id: id, query: rrname, qtype, rcode, answers = [], TTLs = [] } = lookup;
  const rrtype = lookup.qtype_name ?? (qtype === undefined ? undefined : typeNameOf(qtype));
  const reply = {
    rcode: rcodeNameOf(rcode ?? 0),
    answers: answers.map((rdata, n) => ({ rrname, rrtype: typeOf(rdata, rrtype), ttl: TTLs[n], rdata })),
  };
  return {
    ...envelope('dns', lookup),
    dns: {
      version: 2,
      type: rcode === undefined ? 'query' : 'answer',
      id,
      rrname,
      rrtype,
      ...(rcode !== undefined && reply),
    },
  };
}

/**
 * Returns the type of an answer, which Zeek does not record: A or AAAA for an address, CNAME for an alias that precedes
 * addresses, otherwise the type of the query.
 */
function typeOf(rdata: string, asked: string | undefined): string | undefined {
  const version = isIP(rdata);
  if (version !== 0) return version === 4 ? 'A' : 'AAAA';
  return asked === 'A' || asked === 'AAAA' ? 'CNAME' : asked;
}

const http = (request: Http): object => ({
  ...envelope('http', request),
  http: { hostname: request.host, url: request.uri, http_method: request.method },
});

function envelope(event_type: string, connection: Connection, seconds = connection.ts): object {
  const {
    uid,
    proto = 'tcp',
    'id.orig_h': src_ip,
    'id.orig_p': from,
    'id.resp_h': dest_ip,
    'id.resp_p': to,
  } = connection;
  const isIcmp = proto === 'icmp';
  return {
    timestamp: iso(seconds),
    flow_id: Number.parseInt(Buffer.from(uid).toString('hex').slice(-12), 16),
    event_type,
    src_ip,
    dest_ip,
    ...(isIcmp ? { icmp_type: from, icmp_code: to } : { src_port: from, dest_port: to }),
    proto: isIcmp && src_ip.includes(':') ? 'IPv6-ICMP' : proto.toUpperCase(),
  };
}

/** Formats a time as Suricata does, with microseconds. */
function iso(seconds: number): string {
  const micros = Math.round(seconds * 1e6);
  const rest = String(micros % 1000).padStart(3, '0');
  return new Date(Math.floor(micros / 1000)).toISOString().replace('Z', `${rest}+0000`);
}
