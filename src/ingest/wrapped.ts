import { isObject, type JsonObject } from './fields.ts';

// Shippers send a line as a document that contains either the line as a text, or the line's fields next to the
// shipper's fields.

/**
 * Returns the text in which a shipper wraps a record, and the field that contains the text; undefined if the
 * document does not wrap a record.
 */
export function wrappedText(document: JsonObject): { readonly field: string; readonly text: string } | undefined {
  for (const { field, of } of places) {
    const text = of(document);
    if (typeof text === 'string') return { field, text };
  }
  return undefined;
}

/**
 * Fields with the text of a line. Filebeat, Logstash and Vector use `message`, with the original line in
 * `event.original` (ECS); Fluent Bit uses `log`.
 */
const places: readonly { readonly field: string; readonly of: (document: JsonObject) => unknown }[] = [
  { field: 'event.original', of: (document) => within(document, 'event', 'original') },
  { field: 'message', of: ({ message }) => message },
  { field: 'log', of: ({ log }) => log },
];

/** Returns the sender by ECS: the sensor, otherwise the machine, otherwise the shipper; undefined if none is named. */
export function senderOf(document: JsonObject): string | undefined {
  return (
    nameOf(within(document, 'observer', 'name')) ??
    nameOf(within(document, 'host', 'name')) ??
    nameOf(within(document, 'agent', 'name'))
  );
}

/** Returns the sender of a document that wraps a record. In other documents, `host` has another meaning. */
export function wrapperOf(document: JsonObject): string | undefined {
  return senderOf(document) ?? nameOf(document.host);
}

/** Reads a field such as `{event: {original}}`, or the same field with a dot in its name. */
function within(document: JsonObject, object: string, name: string): unknown {
  const holder = document[object];
  return isObject(holder) ? holder[name] : document[`${object}.${name}`];
}

/** Maximum length of a sensor's name, as in `?sensor=`. Longer names are ignored rather than refused. */
const maxNameLength = 200;

function nameOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '' || value.length > maxNameLength) return undefined;
  return value.toWellFormed();
}

/** Fields that shippers add to objects. Native events have none of these fields. */
const added: ReadonlySet<string> = new Set(
  '@metadata @timestamp @version agent cloud container data_stream ecs event file fields host input kubernetes log message observer offset orchestrator service source_type stream tags'.split(
    ' ',
  ),
);

/** Returns a native event without its shipper's fields. Returns any other record unchanged. */
export function withoutAdded(record: JsonObject): JsonObject {
  if (record.type !== 'network_event' && record.type !== 'dns_event') return record;
  const kept = Object.entries(record).filter(
    ([name]) => !added.has(name) && !/^(agent|ecs|event|host|observer)\./.test(name),
  );
  return Object.fromEntries(kept);
}
