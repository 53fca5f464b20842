import { isObject, type JsonObject } from './fields.ts';

// Shippers hand on a line that they read as a document: the line as a text in it, or what it says beside what they add.

/** The text in which a shipper wraps a record, and under which name; undefined where there is none. */
export function wrappedText(
  document: JsonObject,
): { readonly field: string; readonly text: string } | undefined {
  for (const { field, of } of places) {
    const text = of(document);
    if (typeof text === 'string') return { field, text };
  }
  return undefined;
}

/** Filebeat, Logstash and Vector say `message`, with the line as it was in `event.original` (ECS), Fluent Bit `log`. */
const places: readonly { readonly field: string; readonly of: (document: JsonObject) => unknown }[] = [
  { field: 'event.original', of: (document) => within(document, 'event', 'original') },
  { field: 'message', of: ({ message }) => message },
  { field: 'log', of: ({ log }) => log },
];

/** Who sent it, by ECS: the sensor, else the machine, else the shipper. */
export function senderOf(document: JsonObject): string | undefined {
  return (
    nameOf(within(document, 'observer', 'name')) ??
    nameOf(within(document, 'host', 'name')) ??
    nameOf(within(document, 'agent', 'name'))
  );
}

/** … where the document is no record: what records say under `host` is something else. */
export function wrapperOf(document: JsonObject): string | undefined {
  return senderOf(document) ?? nameOf(document.host);
}

/** `{event: {original}}`, or with a dot in the name. */
function within(document: JsonObject, object: string, name: string): unknown {
  const holder = document[object];
  return isObject(holder) ? holder[name] : document[`${object}.${name}`];
}

/** As long as `?sensor=` may be: nothing is refused for the name of its shipper. */
const maxNameLength = 200;

function nameOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '' || value.length > maxNameLength) return undefined;
  return value.toWellFormed();
}

/** What shippers add to an object that they send: none of it is a field of our own events. */
const added: ReadonlySet<string> = new Set([
  '@metadata',
  '@timestamp',
  '@version',
  'agent',
  'cloud',
  'container',
  'data_stream',
  'ecs',
  'event',
  'file',
  'fields',
  'host',
  'input',
  'kubernetes',
  'log',
  'message',
  'observer',
  'offset',
  'orchestrator',
  'service',
  'source_type',
  'stream',
  'tags',
]);

/** An event in our own shape without what its shipper added; any other record as it is. */
export function withoutAdded(record: JsonObject): JsonObject {
  if (record.type !== 'network_event' && record.type !== 'dns_event') return record;
  const kept = Object.entries(record).filter(
    ([name]) => !added.has(name) && !/^(agent|ecs|event|host|observer)\./.test(name),
  );
  return Object.fromEntries(kept);
}
