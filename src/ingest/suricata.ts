import { TextSpan } from '../events/format/text-span.ts';
import type { JsonObject } from './fields.ts';
import { memoize } from './memoize.ts';
import type { ParseContext } from './parse-context.ts';
import { type EventReader, FieldSet, type Plan, RecordFields } from './record-fields.ts';
import { named, reject } from './rejection.ts';
import { suricataAlert } from './suricata-alert.ts';
import { suricataDns } from './suricata-dns.ts';
import { eveSlots } from './suricata-envelope.ts';
import { flowSlots, suricataFlow } from './suricata-flow.ts';
import { suricataDhcp, suricataFile, suricataHttp, suricataQuic, suricataTls } from './suricata-hosts.ts';

const kindOf = memoize((type) => `suricata.${type}`);

const flowReader: EventReader = {
  fields: new FieldSet(flowSlots),
  read: (fields, reading) => reading.batch.addNetwork(suricataFlow(fields, reading)),
};

/** Readers of records with events, by event_type. */
const eventReaders: ReadonlyMap<unknown, EventReader> = new Map<unknown, EventReader>([
  ['flow', flowReader],
  ['alert', { fields: flowReader.fields, read: suricataAlert }],
  [
    'dns',
    {
      fields: new FieldSet(eveSlots),
      read: (fields, reading, r) => reading.batch.addDns(suricataDns(fields, r, reading)),
    },
  ],
]);

const fields = new RecordFields();
const id = new TextSpan();

/**
 * Reads one EVE record (OISF/suricata etc/schema.json), which always has `event_type` and `timestamp`. `lineOf` returns
 * the record's text. Returns the kind of the record; undefined, without any effect, for other records.
 */
export function readSuricata(record: JsonObject, lineOf: () => string, reading: ParseContext): string | undefined {
  const idOfFlow = flowId(record, lineOf);
  if (typeof record.event_type !== 'string' || record.timestamp === undefined) return undefined;
  const reader = eventReaders.get(record.event_type);
  if (reader === undefined) readOther(record, reading);
  else {
    fields.flowId = idOfFlow;
    reader.read(fields.ofRecord(record, reader), reading, record);
  }
  return kindOf(record.event_type);
}

/** Reads a record of a type that is not stored as an event. */
function readOther(record: JsonObject, reading: ParseContext): void {
  switch (record.event_type) {
    case 'dhcp':
      return suricataDhcp(record, reading);
    case 'tls':
      return suricataTls(record, reading);
    case 'http':
      return suricataHttp(record, reading);
    case 'fileinfo':
      return suricataFile(record, reading);
    case 'quic':
      return suricataQuic(record, reading);
    default:
      return reading.batch.ignore();
  }
}

/**
 * Returns the plan for lines of a shape; undefined if the lines are read as objects.
 *
 * @param record - a record of the shape with positions instead of values
 * @param type - the lines' event_type
 */
export function suricataPlan(record: JsonObject, type: unknown): Plan | undefined {
  const reader = eventReaders.get(type);
  if (reader === undefined || record.timestamp === undefined) return undefined;
  const positions = reader.fields.positions(record);
  const read: Plan['read'] = (of, reading, r, lineOf) => {
    of.flowId = of.digits(eveSlots.flow_id, id) ?? flowId(r, lineOf);
    reader.read(of, reading, r);
  };
  return positions && { read, kind: kindOf(type as string), positions };
}

/**
 * Returns Suricata's flow_id as written. The id may have 63 bits, but a double holds only 53. A larger id is
 * read again from the text, with a reviver that sees the source of every number (ECMA-262, JSON.parse source
 * text access).
 *
 * @param lineOf - returns the record's text
 */
function flowId(record: JsonObject, lineOf: () => string): string | undefined {
  const value = record.flow_id;
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string' && /^\d{1,20}$/.test(value)) return value;
  if (typeof value !== 'number' || !(value >= 0) || value % 1 !== 0) {
    return reject('flow_id', `is ${named(value)}, not a whole number of at most 64 bits`);
  }
  if (Number.isSafeInteger(value)) return String(value);
  let source: string | undefined;
  const revive = (key: string, parsed: unknown, context?: { source?: string }): unknown => {
    if (key === 'flow_id' && parsed === value) source = context?.source;
    return parsed;
  };
  JSON.parse(lineOf(), revive);
  return source !== undefined && /^\d{1,20}$/.test(source) ? source : reject('flow_id', 'has more than 64 bits');
}
