import { isAddress } from '../events/ip.ts';
import type { JsonObject } from './fields.ts';
import type { Reading } from './reading.ts';
import { remembered } from './remembered.ts';
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

type Reader = (record: JsonObject, ids: ZeekIds, reading: Reading) => void;

const conn: Reader = (record, ids, reading) => reading.batch.addNetwork(zeekConn(record, ids, reading));
const dns: Reader = (record, ids, reading) => reading.batch.addDns(zeekDns(record, ids, reading));

/** Reads a log that is no event's: its records have no connection of their own. */
const ofHost =
  (read: (record: JsonObject, reading: Reading) => void): Reader =>
  (record, _ids, reading) =>
    read(record, reading);

/** Logs that something is taken from, by the name that Zeek gives them; all others are ignored. */
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

const kindOf = remembered((log) => `zeek.${log}`);

/**
 * One record of Zeek in JSON, whatever the dialect. `path` is the log's name where a TSV header gave it. The kind of
 * record; undefined, and nothing done, where it is none of Zeek's.
 */
export function readZeek(record: JsonObject, reading: Reading, path?: string): string | undefined {
  const stream = path ?? record._path ?? record['@stream'];
  const ids = zeekIds(record);
  if (typeof stream !== 'string') return readUnnamed(record, ids, reading);
  const reader = readers.get(stream);
  if (reader === undefined) reading.batch.ignore();
  else reader(record, ids, reading);
  return kindOf(stream);
}

/** Zeek's own JSON does not name the log: it is told by fields that only this log has. */
function readUnnamed(record: JsonObject, ids: ZeekIds, reading: Reading): string | undefined {
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
  // A line of known_hosts has nothing but the host and when it was seen.
  if (Object.keys(record).length === 2 && record.host !== undefined) {
    zeekKnownHost(record, reading);
    return 'zeek.known_hosts';
  }
  reading.batch.ignore();
  return `zeek.${unnamedLog(record)}`;
}

/** Logs about connections that something is taken from. */
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

/** A loop, because a function that knows the record would be made for every line. */
function logOfConnections(record: JsonObject): (typeof ofConnections)[number] | undefined {
  for (const log of ofConnections) if (log.is(record)) return log;
  return undefined;
}

/** Fields that only this log has, beside `ts`. */
const ofHosts = [
  { name: 'known_services', has: ['host', 'port_num', 'port_proto'], read: zeekKnownService },
  { name: 'software', has: ['host', 'software_type'], read: zeekSoftware },
  { name: 'known_devices', has: ['mac', 'dhcp_host_name'], read: zeekKnownDevice },
  { name: 'dhcp', has: ['mac', 'assigned_addr'], read: zeekDhcp },
  { name: 'dhcp', has: ['mac', 'msg_types'], read: zeekDhcp },
] as const;

/** A record with `ts` and all of one of these sets comes from a log of Zeek's that is not about one connection. */
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
