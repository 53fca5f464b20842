import { field, numeric, values } from './ecs-document.ts';
import { type Moved, made, moved, movedNumber, reading, restored } from './ecs-restored.ts';
import { isObject, type JsonObject } from './fields.ts';
import { memoize } from './memoize.ts';
import type { ParseContext } from './parse-context.ts';
import { senderOf } from './wrapped.ts';
import { readZeek } from './zeek.ts';

/*
 * Zeek's logs from Filebeat's module and Elastic's integration (elastic/beats x-pack/filebeat/module/zeek,
 * elastic/integrations packages/zeek). Fields that have an ECS name are moved to that name; the other fields
 * stay under `zeek.<log>`, except dropped fields (payload bytes of connections, tunnels). Filebeat leaves the
 * conversion of time and duration to an Elasticsearch pipeline, so a document may be received before or after
 * the conversion. Before the conversion, `@timestamp` is the time when the line was read, and the log's `ts` is
 * the time of the event.
 */

const nanoseconds = (value: unknown): unknown => {
  const given = numeric(value);
  return typeof given === 'number' ? given / 1e9 : given;
};

/** Fields of every log. */
const envelope = [
  moved('ts', '@timestamp'),
  moved('uid', 'zeek.session_id', 'event.id'),
  moved('proto', 'network.transport'),
  moved('community_id', 'network.community_id'),
] as const;

const ends = [
  moved('id.orig_h', 'source.ip', 'source.address'),
  movedNumber('id.orig_p', 'source.port', 'zeek.connection.icmp.type'),
  moved('id.resp_h', 'destination.ip', 'destination.address'),
  movedNumber('id.resp_p', 'destination.port', 'zeek.connection.icmp.code'),
] as const;

/** Fields of a notice about hosts rather than a connection. */
const hosts = [
  moved('src', 'source.ip', 'source.address'),
  moved('dst', 'destination.ip', 'destination.address'),
  movedNumber('p', 'destination.port'),
] as const;

const notice = [moved('note', 'rule.name'), moved('msg', 'rule.description', 'message')] as const;

/** Fields besides the envelope, addresses and ports, by the name of the log. */
const logs: ReadonlyMap<string, readonly Moved[]> = new Map(
  Object.entries({
    conn: [
      made('duration', ['event.duration'], nanoseconds),
      movedNumber('duration', 'temp.duration'),
      moved('service', 'network.protocol', 'network.application'),
      moved('conn_state', 'zeek.connection.state'),
      movedNumber('orig_ip_bytes', 'source.bytes'),
      movedNumber('resp_ip_bytes', 'destination.bytes'),
      movedNumber('orig_pkts', 'source.packets'),
      movedNumber('resp_pkts', 'destination.packets'),
      moved('orig_l2_addr', 'source.mac'),
      moved('resp_l2_addr', 'destination.mac'),
      movedNumber('vlan', 'network.vlan.id'),
    ],
    dns: [
      movedNumber('trans_id', 'dns.id'),
      moved('query', 'dns.question.name'),
      moved('qtype_name', 'dns.question.type'),
      moved('qclass_name', 'dns.question.class'),
      moved('rcode_name', 'dns.response_code'),
      made('rtt', ['event.duration'], nanoseconds),
    ],
    http: [
      moved('host', 'url.domain', 'destination.domain'),
      moved('uri', 'url.original', 'url.path'),
      moved('method', 'http.request.method'),
      moved('referrer', 'http.request.referrer'),
      moved('version', 'http.version'),
      moved('user_agent', 'user_agent.original'),
      movedNumber('status_code', 'http.response.status_code'),
      movedNumber('request_body_len', 'http.request.body.bytes'),
      movedNumber('response_body_len', 'http.response.body.bytes'),
      moved('username', 'url.username'),
      moved('password', 'url.password'),
    ],
    ssl: [
      moved('server_name', 'zeek.ssl.server.name', 'tls.client.server_name'),
      moved('validation_status', 'zeek.ssl.validation.status'),
      moved('established', 'tls.established'),
      moved('resumed', 'tls.resumed'),
      moved('cipher', 'tls.cipher'),
      moved('subject', 'tls.server.subject'),
      moved('issuer', 'tls.server.issuer'),
      moved('client_subject', 'tls.client.subject'),
      moved('client_issuer', 'tls.client.issuer'),
      moved('ja3', 'tls.client.ja3'),
      moved('ja3s', 'tls.server.ja3s'),
    ],
    files: [
      moved('filename', 'file.name'),
      moved('mime_type', 'file.mime_type'),
      movedNumber('total_bytes', 'file.size'),
      moved('md5', 'file.hash.md5'),
      moved('sha1', 'file.hash.sha1'),
      moved('sha256', 'file.hash.sha256'),
      made('tx_hosts', ['zeek.files.tx_host', 'server.ip'], values),
      made('rx_hosts', ['zeek.files.rx_host', 'client.ip'], values),
    ],
    smb_files: [
      moved('name', 'file.name'),
      moved('path', 'file.path'),
      moved('action', 'event.action'),
      movedNumber('size', 'file.size'),
    ],
    dhcp: [
      moved('assigned_addr', 'zeek.dhcp.address.assigned'),
      moved('mac', 'zeek.dhcp.address.mac'),
      moved('host_name', 'zeek.dhcp.hostname'),
    ],
    known_hosts: [moved('host', 'host.ip')],
    known_services: [
      moved('host', 'server.ip', 'host.ip'),
      movedNumber('port_num', 'server.port'),
      moved('port_proto', 'network.transport'),
      made('service', ['network.application', 'network.protocol'], values),
    ],
  }),
);

/**
 * Logs that are read, because the modules leave them complete enough. Other logs are only passed to rules.
 */
const read: ReadonlySet<string> = new Set('conn dns notice ssl http quic dhcp known_hosts known_services'.split(' '));

/** Zeek's log names, by the names of data sets that the modules name differently. */
const nameOfSet: ReadonlyMap<string, string> = new Map([
  ['connection', 'conn'],
  ['signature', 'signatures'],
]);

const tables = memoize((log) => ({
  connection: [...(logs.get(log) ?? []), ...(log === 'notice' ? notice : []), ...ends, ...envelope],
  hosts: [...(logs.get(log) ?? []), ...notice, ...hosts, ...envelope],
}));

const datasetOf = field('event.dataset');
const zeekOf = field('zeek');
const sourceOf = ends[0];
const destinationOf = ends[2];

/** Returns the module's data set; undefined if the document is not from Zeek. */
export function zeekSet(document: JsonObject): string | undefined {
  const zeek = zeekOf(document);
  const dataset = datasetOf(document);
  const named = typeof dataset === 'string' && dataset.startsWith('zeek.') ? dataset.slice(5) : undefined;
  if (!isObject(zeek)) return named;
  if (named !== undefined && Object.hasOwn(zeek, named) && isObject(zeek[named])) return named;
  for (const name in zeek) if (isObject(zeek[name])) return name;
  return named;
}

/**
 * Reads the record as Zeek wrote it, except fields that are missing in the document. Returns the record and its
 * kind.
 */
export function readEcsOfZeek(
  document: JsonObject,
  set: string,
  shared: ParseContext,
): { readonly kind: string; readonly record: JsonObject } {
  const log = nameOfSet.get(set) ?? set;
  const zeek = zeekOf(document);
  const left = isObject(zeek) && Object.hasOwn(zeek, set) && isObject(zeek[set]) ? zeek[set] : {};
  const { connection, hosts } = tables(log);
  const ofHosts =
    log === 'notice' && (sourceOf.read(document) === undefined || destinationOf.read(document) === undefined);
  const table = ofHosts ? hosts : connection;
  const record = restored(document, left, table, false);
  // Both Filebeat and the integration write a transaction number as a text.
  if (log === 'dns') record.trans_id = numeric(record.trans_id);
  if (record._node_name === undefined && record['@system'] === undefined) {
    record._system_name ??= senderOf(document);
  }
  if (!read.has(log)) shared.batch.ignore();
  else reading(() => readZeek(record, shared, log), document, `zeek.${set}`, table);
  return { kind: kindOf(log), record };
}

const kindOf = memoize((log) => `zeek.${log}`);
