import { isAddress } from '../net/ip.ts';
import type { JsonObject } from './fields.ts';
import { memoize } from './memoize.ts';
import type { ParseContext } from './parse-context.ts';
import { zeekConn } from './zeek-conn.ts';
import { zeekDns } from './zeek-dns.ts';
import { type ZeekIds, zeekIds } from './zeek-envelope.ts';
import {
  zeekDhcp,
  zeekHttp,
  zeekKnownDevice,
  zeekKnownHost,
  zeekKnownService,
  zeekQuic,
  zeekSoftware,
  zeekTls,
} from './zeek-hosts.ts';
import { zeekNotice } from './zeek-notice.ts';
import { unnamedLog } from './zeek-unnamed.ts';

type Reader = (record: JsonObject, ids: ZeekIds, reading: ParseContext) => void;

const conn: Reader = (record, ids, reading) => reading.batch.addNetwork(zeekConn(record, ids, reading));
const dns: Reader = (record, ids, reading) => reading.batch.addDns(zeekDns(record, ids, reading));

/** Returns a reader for a log without events. The records of such a log have no connection. */
const ofHost =
  (read: (record: JsonObject, reading: ParseContext) => void): Reader =>
  (record, _ids, reading) =>
    read(record, reading);

/** Readers by Zeek's names of logs. All other logs are ignored. */
const readers: ReadonlyMap<string, Reader> = new Map([
  ['conn', conn],
  ['open_conn', conn],
  ['conn_long', conn],
  ['dns', dns],
  ['notice', zeekNotice],
  ['known_hosts', ofHost(zeekKnownHost)],
  ['known_services', ofHost(zeekKnownService)],
  ['known_devices', ofHost(zeekKnownDevice)],
  ['software', ofHost(zeekSoftware)],
  ['dhcp', ofHost(zeekDhcp)],
  ['ssl', zeekTls],
  ['http', zeekHttp],
  ['quic', zeekQuic],
]);

const kindOf = memoize((log) => `zeek.${log}`);

/**
 * Reads one JSON record of Zeek in any dialect. `path` is the log's name from a TSV header. Returns the kind
 * of the record; undefined, without any effect, for other records.
 */
export function readZeek(record: JsonObject, reading: ParseContext, path?: string): string | undefined {
  const stream = path ?? record._path ?? record['@stream'];
  const ids = zeekIds(record);
  if (typeof stream !== 'string') return readUnnamed(record, ids, reading);
  const reader = readers.get(stream);
  if (reader === undefined) reading.batch.ignore();
  else reader(record, ids, reading);
  return kindOf(stream);
}

/**
 * Reads a record in Zeek's own JSON, which does not name the log. The log is recognised by fields that only
 * this log has.
 */
function readUnnamed(record: JsonObject, ids: ZeekIds, reading: ParseContext): string | undefined {
  if (record.ts === undefined) return undefined;
  if (ids.orig_h !== undefined || ids.resp_h !== undefined) {
    const log = logOfConnections(record);
    if (log === undefined) reading.batch.ignore();
    else log.read(record, ids, reading);
    return kindOf(log?.name ?? unnamedLog(record));
  }
  if (record.note !== undefined && (record.msg !== undefined || record.actions !== undefined)) {
    zeekNotice(record, ids, reading);
    return 'zeek.notice';
  }
  const log = ofHosts.find(({ has }) => has.every((name) => record[name] !== undefined));
  if (log !== undefined) {
    log.read(record, reading);
    return `zeek.${log.name}`;
  }
  const known =
    signs.some((names) => names.every((name) => record[name] !== undefined)) ||
    (typeof record.host === 'string' && isAddress(record.host));
  if (!known) return undefined;
  // A line of known_hosts has only the host and the time.
  if (Object.keys(record).length === 2 && record.host !== undefined) {
    zeekKnownHost(record, reading);
    return 'zeek.known_hosts';
  }
  reading.batch.ignore();
  return `zeek.${unnamedLog(record)}`;
}

/** Logs about connections that are read. */
const ofConnections: readonly {
  readonly name: string;
  readonly is: (record: JsonObject) => boolean;
  readonly read: Reader;
}[] = [
  { name: 'conn', is: (r) => r.conn_state !== undefined || r.orig_ip_bytes !== undefined, read: conn },
  { name: 'dns', is: (r) => r.trans_id !== undefined || r.qtype_name !== undefined, read: dns },
  { name: 'notice', is: (r) => r.note !== undefined, read: zeekNotice },
  { name: 'dns', is: (r) => r.rejected !== undefined && r.AA !== undefined, read: dns },
  { name: 'ssl', is: (r) => r.established !== undefined && r.resumed !== undefined, read: zeekTls },
  { name: 'quic', is: (r) => r.client_initial_dcid !== undefined, read: zeekQuic },
  { name: 'http', is: (r) => unnamedLog(r) === 'http', read: zeekHttp },
];

/** Uses a loop, because the closure for `find` would be created for every line. */
function logOfConnections(record: JsonObject): (typeof ofConnections)[number] | undefined {
  for (const log of ofConnections) if (log.is(record)) return log;
  return undefined;
}

/** Logs about hosts. `has` lists the fields, besides `ts`, by which a log is recognised. */
const ofHosts = [
  { name: 'known_services', has: ['host', 'port_num', 'port_proto'], read: zeekKnownService },
  { name: 'software', has: ['host', 'software_type'], read: zeekSoftware },
  { name: 'known_devices', has: ['mac', 'dhcp_host_name'], read: zeekKnownDevice },
  { name: 'dhcp', has: ['mac', 'assigned_addr'], read: zeekDhcp },
  { name: 'dhcp', has: ['mac', 'msg_types'], read: zeekDhcp },
] as const;

/**
 * Sets of fields. A record with `ts` and all fields of a set is from a Zeek log that is not about one
 * connection.
 */
const signs = [
  ['uid'],
  ['uids'],
  ['fuid'],
  ['conn_uids'],
  ['fingerprint'],
  ['certificate.version'],
  // known_certs
  ['host', 'port_num'],
  // stats, capture_loss, weird; packet_filter, cluster; reporter
  ['peer'],
  ['node', 'filter'],
  ['node', 'message'],
  ['level', 'message', 'location'],
] as const;
