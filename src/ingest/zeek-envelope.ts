import { isObject, type JsonObject, text } from './fields.ts';
import { reject } from './rejection.ts';
import { slotsOf } from './slots.ts';
import { transportField } from './transport.ts';

/** The names of a connection's addresses and ports in one dialect, for errors. */
export interface IdNames {
  readonly orig_h: string;
  readonly orig_p: string;
  readonly resp_h: string;
  readonly resp_p: string;
}

export const dotted: IdNames = {
  orig_h: 'id.orig_h',
  orig_p: 'id.orig_p',
  resp_h: 'id.resp_h',
  resp_p: 'id.resp_p',
};
const underscored: IdNames = {
  orig_h: 'id_orig_h',
  orig_p: 'id_orig_p',
  resp_h: 'id_resp_h',
  resp_p: 'id_resp_p',
};

/** The unchecked addresses and ports of a connection, which are undefined if the record has no connection. */
export interface ZeekIds {
  orig_h: unknown;
  orig_p: unknown;
  resp_h: unknown;
  resp_p: unknown;
  names: IdNames;
}

/**
 * The object that every call of `zeekIds` fills and returns, because one object per line would be more
 * expensive.
 */
const ids: ZeekIds = {
  orig_h: undefined,
  orig_p: undefined,
  resp_h: undefined,
  resp_p: undefined,
  names: dotted,
};

/**
 * Returns the addresses and ports of a connection in any dialect: `id.orig_h` (Zeek's own), `id_orig_h`
 * (streams that cannot have dots in names) or `id: {orig_h}` (nested). The result is valid until the next call.
 */
export function zeekIds(record: JsonObject): ZeekIds {
  if (record['id.orig_h'] !== undefined || record['id.resp_h'] !== undefined) {
    return fill(record['id.orig_h'], record['id.orig_p'], record['id.resp_h'], record['id.resp_p'], dotted);
  }
  if (record.id_orig_h !== undefined || record.id_resp_h !== undefined) {
    return fill(record.id_orig_h, record.id_orig_p, record.id_resp_h, record.id_resp_p, underscored);
  }
  const { id } = record;
  if (isObject(id)) return fill(id.orig_h, id.orig_p, id.resp_h, id.resp_p, dotted);
  return fill(undefined, undefined, undefined, undefined, dotted);
}

function fill(orig_h: unknown, orig_p: unknown, resp_h: unknown, resp_p: unknown, names: IdNames): ZeekIds {
  ids.orig_h = orig_h;
  ids.orig_p = orig_p;
  ids.resp_h = resp_h;
  ids.resp_p = resp_p;
  ids.names = names;
  return ids;
}

export function zeekTransport(proto: unknown, field: string): string | undefined {
  return proto === 'unknown_transport' ? 'unknown' : transportField(proto, field);
}

export function requiredZeekTransport(proto: unknown, field: string): string {
  return zeekTransport(proto, field) ?? reject(field, 'is missing');
}

/**
 * Returns the name of the sensor: `_system_name` in json-streaming-logs, `@system` in streams, `_node_name` from a
 * cluster's worker. Returns undefined without a name.
 */
export function zeekSensor(systemName: unknown, system: unknown, nodeName: unknown): string | undefined {
  if (systemName !== undefined) return text(systemName, '_system_name');
  if (system !== undefined) return text(system, '@system');
  return text(nodeName, '_node_name');
}

/** Names of the fields that all logs with events can have. The first four are those of `zeekIds`. */
export const zeekFields = 'orig_h orig_p resp_h resp_p ts uid proto community_id _system_name @system _node_name';
export const zeekSlots = slotsOf(zeekFields, '');
