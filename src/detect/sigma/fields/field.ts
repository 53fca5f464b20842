import type { Table } from '../../../events/records.ts';
import { attributesOf } from '../../../events/resource.ts';
import type { Accessor, RecordKind } from '../record.ts';
import { type Alias, aliases, type Places } from './aliases.ts';
import { connectionStateOf } from './connection-state.ts';
import { firstOf, nestedPath, zeekPath } from './paths.ts';
import { zeekFields, zeekName } from './zeek-logs.ts';

/** The field sets of the Elastic Common Schema, and additional sets of Packetbeat flows. */
const sets: ReadonlySet<string> = new Set(
  'agent as client cloud container data_stream destination device dll dns ecs email error event faas file flow geo group hash host http log network observer orchestrator organization package process registry related rule server service source threat tls transaction trace url user user_agent vulnerability'.split(
    ' ',
  ),
);

/** Fields outside of any set. */
const base: ReadonlySet<string> = new Set(['@timestamp', 'labels', 'message', 'tags']);

/** Returns true if an ECS document can have this name. */
function isEcsName(name: string): boolean {
  const dot = name.indexOf('.');
  if (dot < 0) return base.has(name);
  const set = name.slice(0, dot);
  return sets.has(set) || set === 'labels';
}

/** A field name of a rule, resolved for records of a kind. */
interface Field {
  /** Key that is equal for all names with the same meaning. */
  readonly key: string;
  readonly read: Accessor;
  /** True if records of the kind can have the field. Sensor records are also searched for fields that are not known. */
  readonly known: boolean;
}

/**
 * Resolves a name for records of a kind. The sensor's own names, which are unambiguous, take precedence (`host` is a
 * header in http.log and an address in software.log). The other names of the record's fields come next.
 */
export function resolveField(kind: RecordKind, name: string): Field {
  if ((name === 'state' || name === 'answered') && ofConnections.has(kind)) {
    const read = connectionStateOf(kind, (other) => resolveField(kind, other).read)[name];
    return { key: `(${name})`, read, known: true };
  }
  const [family = '', type = ''] = kind.split('.', 2);
  if (family === 'zeek') return zeekField(kind, type, name);
  if (family === 'suricata') return aliasField(kind, family, name) ?? suricataField(type, name);
  if (family === 'ecs') return ecsField(kind, name);
  return ownField(kind, name) ?? aliasField(kind, family, name) ?? absent(name);
}

const ofConnections: ReadonlySet<RecordKind> = new Set([
  'zeek.conn',
  'zeek.open_conn',
  'zeek.conn_long',
  'suricata.flow',
  'ecs.connection',
  'candor.network_event',
]);

/**
 * Resolves a field in ECS records. Ingest replaces dotted names with nested objects. Fields without an alias are
 * looked up by their own name.
 */
function ecsField(kind: RecordKind, name: string): Field {
  const alias = aliasField(kind, 'ecs', name);
  if (alias !== undefined) return alias;
  const own = byName.get(name.toLowerCase())?.names.split(' ', 1)[0] ?? name;
  return { key: own, read: nestedPath(own), known: isEcsName(own) };
}

function zeekField(kind: RecordKind, log: string, name: string): Field {
  const fields = zeekFields(log);
  const found = fields === undefined ? undefined : zeekName(fields, name);
  // `service` is the only Zeek field that is a list written as text.
  const list = found === 'service' && fields?.has('conn_state') === true;
  if (found !== undefined && !list) return { key: found, read: zeekPath(found), known: true };
  const alias = aliasField(kind, 'zeek', name);
  if (alias !== undefined) return alias;
  return { key: name, read: zeekPath(name), known: fields === undefined };
}

const envelope = new Set(
  'timestamp flow_id pcap_cnt event_type src_ip src_port dest_ip dest_port proto ip_v in_iface host vlan community_id app_proto direction tx_id icmp_type icmp_code ether metadata parent_id payload payload_printable packet stream pkt_src'.split(
    ' ',
  ),
);

/**
 * Objects that records of a type contain, by record type. Records of other types contain only the object named after
 * the type.
 */
const carried: Readonly<Record<string, readonly string[]>> = {
  alert: ['alert', 'flow', 'http', 'dns', 'tls', 'smb', 'ssh', 'smtp', 'email', 'fileinfo', 'files', 'tcp', 'verdict'],
  flow: ['flow', 'tcp'],
  fileinfo: ['fileinfo', 'http', 'smtp', 'email', 'smb'],
  smtp: ['smtp', 'email'],
  drop: ['drop', 'alert', 'flow'],
};

/** Resolves a path in EVE: in the envelope, or in the object named after the record type. */
function suricataField(type: string, path: string): Field {
  const first = path.split('.', 1)[0]!;
  const known = envelope.has(first) || (path.includes('.') && (carried[type] ?? [type]).includes(first));
  return { key: path, read: nestedPath(path), known };
}

/**
 * Attributes that are not resolved by name, because an alias resolves them. The alias also matches each value of a
 * list, or computes a derived value.
 */
const aliased = ['app_protocol', 'app_protocols', 'answers', 'registered_domain'];
/** Attributes that are added when an event is stored, after the rules were evaluated. */
const ofStorage = ['sensor_id', 'app_protocol_stored'];
const omitted: ReadonlySet<string> = new Set([...aliased, ...ofStorage]);
const namesOf = (table: Table): ReadonlySet<string> =>
  new Set(attributesOf(table).filter((name) => !omitted.has(name)));

/** Attributes of Candor's own events, as named in the API contract. */
const attributes: Readonly<Record<string, ReadonlySet<string>>> = {
  'candor.network_event': namesOf('network'),
  'candor.dns_event': namesOf('dns'),
};

function ownField(kind: RecordKind, name: string): Field | undefined {
  if (attributes[kind]?.has(name) !== true) return undefined;
  return { key: name, read: nestedPath(name), known: true };
}

const absent = (name: string): Field => ({ key: name, read: () => undefined, known: false });

const byName: ReadonlyMap<string, Alias> = new Map(
  aliases.flatMap((alias) => alias.names.split(' ').map((name) => [name.toLowerCase(), alias] as const)),
);

function aliasField(kind: RecordKind, family: string, name: string): Field | undefined {
  const alias = byName.get(name.toLowerCase());
  const place = alias === undefined ? undefined : placeIn(alias.at, kind, family);
  if (alias === undefined || place === undefined) return undefined;
  const key = typeof place === 'string' ? place : `(${alias.names.split(' ', 1)[0]})`;
  if (typeof place === 'function') return { key, read: place, known: true };
  const path = family === 'zeek' ? zeekPath : nestedPath;
  const paths = (typeof place === 'string' ? [place] : place).filter((one) => isOf(kind, family, one));
  if (paths.length === 0) return undefined;
  return { key, read: paths.length === 1 ? path(paths[0]!) : firstOf(...paths.map(path)), known: true };
}

const connections: Readonly<Record<string, RecordKind>> = {
  'zeek.open_conn': 'zeek.conn',
  'zeek.conn_long': 'zeek.conn',
};

function placeIn(at: Places, kind: RecordKind, family: string): Places[string] | undefined {
  return at[kind] ?? at[connections[kind] ?? ''] ?? at[family];
}

/** Returns false if the log or message type of the kind does not have the field. */
function isOf(kind: RecordKind, family: string, path: string): boolean {
  const type = kind.slice(family.length + 1);
  if (family === 'suricata') return suricataField(type, path).known;
  return family !== 'zeek' || zeekFields(type)?.has(path) !== false;
}
