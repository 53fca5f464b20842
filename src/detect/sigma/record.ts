/**
 * A record as a sensor wrote it: parsed JSON, or a row of TSV. Names are looked up, never copied onto other objects,
 * so `__proto__` is a name like others.
 */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Which log or type of message a record is: `zeek.<path of the log>`, `suricata.<event_type>`, of others in ECS
 * `ecs.<connection, dns, http, tls or other>`, and in our own shape, in which history is read, too, `candor.network_event`
 * and `candor.dns_event`.
 */
export type RecordKind = string;

/** How records of a kind are asked for a field; undefined where they don't have it. */
export type Accessor = (record: JsonObject) => unknown;
