/**
 * A record as received: parsed JSON, or a row of TSV. Names are looked up and never copied to other objects,
 * so `__proto__` is an ordinary name.
 */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The log or message type of a record: `zeek.<path of the log>`, `suricata.<event_type>`, `ecs.<connection, dns,
 * http, tls or other>` for other records in ECS, and `candor.network_event` and `candor.dns_event` in Candor's own
 * format. Stored history also has these two kinds.
 */
export type RecordKind = string;

/** Reads a field of a record; undefined if it is missing. */
export type Accessor = (record: JsonObject) => unknown;
