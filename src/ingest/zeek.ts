import { isAddress } from '../net/ip.ts';
import type { JsonObject } from './fields.ts';
import { memoize } from './memoize.ts';
import type { ParseContext } from './parse-context.ts';
import { type EventReader, FieldSet, type Plan, RecordFields } from './record-fields.ts';
import { connSlots, zeekConn } from './zeek-conn.ts';
import { dnsSlots, zeekDns } from './zeek-dns.ts';
import { type ZeekIds, zeekIds, zeekSlots } from './zeek-envelope.ts';
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

const connReader: EventReader = {
  fields: new FieldSet(connSlots),
  read: (fields, reading) => reading.batch.addNetwork(zeekConn(fields, reading)),
};
const dnsReader: EventReader = {
  fields: new FieldSet(dnsSlots),
  read: (fields, reading) => reading.batch.addDns(zeekDns(fields, reading)),
};

/** Readers of logs with events, by Zeek's log names. */
const eventReaders: ReadonlyMap<string, EventReader> = new Map<string, EventReader>([
  ['conn', connReader],
  ['open_conn', connReader],
  ['conn_long', connReader],
  ['dns', dnsReader],
]);

const fields = new RecordFields();

/** Returns a reader for records that are objects. */
const ofEvents =
  (reader: EventReader): Reader =>
  (record, ids, reading) =>
    reader.read(withIds(fields.ofRecord(record, reader), ids), reading, record);

function withIds(to: RecordFields, ids: ZeekIds): RecordFields {
  to.names = ids.names;
  to.set(zeekSlots.orig_h, ids.orig_h);
  to.set(zeekSlots.orig_p, ids.orig_p);
  to.set(zeekSlots.resp_h, ids.resp_h);
  to.set(zeekSlots.resp_p, ids.resp_p);
  return to;
}

const conn = ofEvents(connReader);
const dns = ofEvents(dnsReader);

/** Returns a reader for a log without events. The records of such a log have no connection. */
const ofHost =
  (read: (record: JsonObject, reading: ParseContext) => void): Reader =>
  (record, _ids, reading) =>
    read(record, reading);

/** Readers by Zeek's log names. All other logs are ignored. */
const readers: ReadonlyMap<string, Reader> = new Map([
  ...[...eventReaders].map(([log, reader]) => [log, ofEvents(reader)] as const),
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
 * Returns the plan for lines of a shape; undefined if the lines are read as objects.
 *
 * @param record - a record of the shape with positions instead of values
 * @param stream - the text in the lines that names the log; undefined if they do not name the log
 */
export function zeekPlan(record: JsonObject, stream: unknown): Plan | undefined {
  const ids = zeekIds(record);
  const isUnnamed = stream === undefined && record.ts !== undefined && ids.orig_h !== undefined;
  const log = isUnnamed ? logOfConnections(record)?.name : stream;
  const reader = eventReaders.get(log as string);
  if (reader === undefined) return undefined;
  const { orig_h, orig_p, resp_h, resp_p } = zeekSlots;
  const positions = reader.fields.positions(
    record,
    new Map([
      [orig_h, ids.orig_h],
      [orig_p, ids.orig_p],
      [resp_h, ids.resp_h],
      [resp_p, ids.resp_p],
    ]),
  );
  return positions && { read: reader.read, kind: kindOf(log as string), positions, names: ids.names };
}

/**
 * Reads a record in Zeek's own JSON, which does not name the log. The log is recognised by fields that only this log
 * has. Returns the kind of the record; undefined if the record is not from Zeek.
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

/** Returns the log of a record; undefined for other records. `find` would create a closure for every line. */
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
