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
  const log = isUnnamed ? logOfConnections(record) : stream;
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
  const isConnection = ids.orig_h !== undefined || ids.resp_h !== undefined;
  const log = isConnection ? logOfConnections(record) : logOfHosts(record);
  if (log !== undefined) {
    readers.get(log)!(record, ids, reading);
    return kindOf(log);
  }
  if (!isConnection && !isOtherLog(record)) return undefined;
  reading.batch.ignore();
  return kindOf(unnamedLog(record));
}

/** Logs about connections that are read, with the conditions that recognise their records. The first match counts. */
const ofConnections: readonly { readonly log: string; readonly is: (record: JsonObject) => boolean }[] = [
  { log: 'conn', is: (r) => r.conn_state !== undefined || r.orig_ip_bytes !== undefined },
  { log: 'dns', is: (r) => r.trans_id !== undefined || r.qtype_name !== undefined },
  { log: 'notice', is: (r) => r.note !== undefined },
  { log: 'dns', is: (r) => r.rejected !== undefined && r.AA !== undefined },
  { log: 'ssl', is: (r) => r.established !== undefined && r.resumed !== undefined },
  { log: 'quic', is: (r) => r.client_initial_dcid !== undefined },
  { log: 'http', is: (r) => unnamedLog(r) === 'http' },
];

/** Returns the log of a record; undefined for other records. `find` would create a closure for every line. */
function logOfConnections(record: JsonObject): string | undefined {
  for (const one of ofConnections) if (one.is(record)) return one.log;
  return undefined;
}

/** Logs that are read and not about one connection, with the fields, besides `ts`, that recognise their records. */
const ofHosts: readonly { readonly log: string; readonly has: readonly string[] }[] = [
  { log: 'notice', has: ['note', 'msg'] },
  { log: 'notice', has: ['note', 'actions'] },
  { log: 'known_services', has: ['host', 'port_num', 'port_proto'] },
  { log: 'software', has: ['host', 'software_type'] },
  { log: 'known_devices', has: ['mac', 'dhcp_host_name'] },
  { log: 'dhcp', has: ['mac', 'assigned_addr'] },
  { log: 'dhcp', has: ['mac', 'msg_types'] },
];

/** Returns the log of a record that is not about one connection; undefined for other records. */
function logOfHosts(record: JsonObject): string | undefined {
  const found = ofHosts.find(({ has }) => hasAll(record, has));
  if (found !== undefined) return found.log;
  // A line of known_hosts has only the host and the time.
  return Object.keys(record).length === 2 && hasHost(record) ? 'known_hosts' : undefined;
}

/**
 * Sets of fields. A record with `ts` and all fields of a set is from a Zeek log that is not about one
 * connection.
 */
const signs: readonly (readonly string[])[] = [
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
];

/** Returns whether a record with `ts` is from a Zeek log that is not read and not about one connection. */
const isOtherLog = (record: JsonObject): boolean => signs.some((fields) => hasAll(record, fields)) || hasHost(record);

const hasHost = ({ host }: JsonObject): boolean => typeof host === 'string' && isAddress(host);

const hasAll = (record: JsonObject, fields: readonly string[]): boolean =>
  fields.every((field) => record[field] !== undefined);
