import { suricataMetadataKeys } from '../events/sensor-alert.ts';
import { field, single, values } from './ecs-document.ts';
import { made, moved, movedNumber, reading, restored } from './ecs-restored.ts';
import { isObject, type JsonObject } from './fields.ts';
import type { ParseContext } from './parse-context.ts';
import { reject } from './rejection.ts';
import { readSuricata } from './suricata.ts';
import { senderOf } from './wrapped.ts';

/*
 * EVE from Filebeat's module and Elastic's integration (elastic/beats x-pack/filebeat/module/suricata,
 * elastic/integrations packages/suricata). Fields that have an ECS name are moved to that name; the other
 * fields stay under `suricata.eve`. Filebeat moves only addresses and ports, and Elasticsearch pipelines move
 * the other fields. A document may be received before or after it passes through the pipeline.
 */

const action = (type: unknown): unknown => {
  const types = values(type);
  if (types.includes('denied')) return 'blocked';
  return types.includes('allowed') ? 'allowed' : undefined;
};

const headerFlag =
  (name: string) =>
  (flags: unknown): unknown =>
    values(flags).includes(name);

/** Restores EVE's names in the records of an answer section. */
const answers = (given: unknown): unknown =>
  values(given).map((one) =>
    isObject(one) ? { ...one, rrname: one.name, rrtype: one.type, rdata: single(one.data) } : one,
  );

const table = [
  moved('timestamp', '@timestamp'),
  moved('src_ip', 'source.ip', 'source.address'),
  movedNumber('src_port', 'source.port'),
  moved('dest_ip', 'destination.ip', 'destination.address'),
  movedNumber('dest_port', 'destination.port'),
  moved('proto', 'network.transport'),
  moved('community_id', 'network.community_id'),
  moved('app_proto', 'network.protocol'),
  movedNumber('flow.pkts_toserver', 'source.packets'),
  movedNumber('flow.pkts_toclient', 'destination.packets'),
  movedNumber('flow.bytes_toserver', 'source.bytes'),
  movedNumber('flow.bytes_toclient', 'destination.bytes'),
  moved('flow.start', 'event.start'),
  moved('flow.end', 'event.end'),
  moved('ether.src_mac', 'source.mac'),
  moved('ether.dest_mac', 'destination.mac'),
  movedNumber('alert.signature_id', 'rule.id'),
  moved('alert.signature', 'rule.name'),
  moved('alert.category', 'rule.category'),
  movedNumber('alert.rev', 'rule.version'),
  movedNumber('alert.severity', 'event.severity'),
  made('alert.action', ['event.type'], action),
  moved('dns.type', 'dns.type'),
  movedNumber('dns.id', 'dns.id'),
  moved('dns.rrname', 'dns.question.name'),
  moved('dns.rrtype', 'dns.question.type'),
  moved('dns.rcode', 'dns.response_code'),
  moved('http.hostname', 'url.domain'),
  moved('http.url', 'url.original'),
  moved('http.http_method', 'http.request.method'),
  moved('http.http_refer', 'http.request.referrer'),
  moved('http.http_user_agent', 'user_agent.original'),
  movedNumber('http.status', 'http.response.status_code'),
  movedNumber('http.length', 'http.response.body.bytes'),
  moved('fileinfo.filename', 'file.path', 'file.name'),
  movedNumber('fileinfo.size', 'file.size'),
] as const;

/** Fields of older EVE formats, which are used if the record itself has none of these fields. */
const answered = [made('dns.answers', ['dns.answers'], answers)] as const;
const flagged = (['AA', 'TC', 'RD', 'RA'] as const).map((name) =>
  made(`dns.${name.toLowerCase()}`, ['dns.header_flags'], headerFlag(name)),
);

const everything = [...table, ...answered];

const tacticsAndTechniques = {
  mitre_tactic_id: field('threat.tactic.id'),
  mitre_tactic_name: field('threat.tactic.name'),
  mitre_technique_id: field('threat.technique.id'),
  mitre_technique_name: field('threat.technique.name'),
} as const;

const eveOf = field('suricata.eve');

/** Returns the remainder of the EVE record; undefined if the document is not from Suricata. */
export function eveLeft(document: JsonObject): JsonObject | undefined {
  const eve = eveOf(document);
  return isObject(eve) && typeof eve.event_type === 'string' ? eve : undefined;
}

/**
 * Reads the record as Suricata wrote it, except fields that are missing in the document. Returns the record and
 * its kind.
 *
 * @param lineOf - returns the document's text
 */
export function readEcsOfSuricata(
  document: JsonObject,
  left: JsonObject,
  lineOf: () => string,
  shared: ParseContext,
): { readonly kind: string; readonly record: JsonObject } {
  const { event_type: type } = left;
  const record = restored(document, left, table, true);
  if (type === 'dns') Object.assign(record, restored(document, record, dnsOf(left), true));
  if (type === 'alert') record.alert = withMetadata(document, record.alert);
  // Only flows and alerts have `flow`, and a rule may test whether `flow` is present.
  if (type !== 'flow' && type !== 'alert' && left.flow === undefined) record.flow = undefined;
  record.host = isObject(record.host) ? senderOf(document) : (record.host ?? senderOf(document));
  const kind = reading(
    () => readSuricata(record, () => lineOf().replaceAll('"suricata.eve.flow_id"', '"flow_id"'), shared),
    document,
    'suricata.eve',
    everything,
  );
  return { kind: kind ?? reject('@timestamp', 'is missing'), record };
}

function dnsOf({ dns }: JsonObject) {
  const has = (...names: string[]) => isObject(dns) && names.some((name) => dns[name] !== undefined);
  return [
    ...(has('answers', 'grouped', 'rdata') ? [] : answered),
    ...(has('flags', 'aa', 'tc', 'rd', 'ra') ? [] : flagged),
  ];
}

/**
 * Restores a rule's metadata. The pipelines move known metadata to fields next to `metadata`, and ATT&CK to
 * `threat`. Lists of one value may be single values.
 */
function withMetadata(document: JsonObject, alert: unknown): unknown {
  if (!isObject(alert)) return alert;
  const given = isObject(alert.metadata) ? alert.metadata : {};
  const metadata: Record<string, unknown> = { ...given };
  for (const key of suricataMetadataKeys) {
    const threat = key in tacticsAndTechniques ? (key as keyof typeof tacticsAndTechniques) : undefined;
    const value = given[key] ?? alert[key] ?? (threat && tacticsAndTechniques[threat](document));
    if (value !== undefined && value !== null) metadata[key] = values(value);
  }
  return { ...alert, metadata };
}
