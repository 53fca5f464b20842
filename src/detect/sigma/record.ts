import { isObject, type JsonObject } from '../../contract/json-object.ts';

export { isObject, type JsonObject };

/**
 * The log or message type of a record: `zeek.<path of the log>`, `suricata.<event_type>`, `ecs.<connection, dns,
 * http, tls or other>` for other records in ECS, and `candor.network_event` and `candor.dns_event` in Candor's own
 * format. Stored history also has these two kinds.
 */
export type RecordKind = string;

/** Reads a field of a record; undefined if it is missing. */
export type Accessor = (record: JsonObject) => unknown;
