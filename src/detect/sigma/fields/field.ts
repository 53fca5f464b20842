import type { Accessor, RecordKind } from '../record.ts';
import { type Alias, aliases, type Places } from './aliases.ts';
import { isEcsName } from './ecs-sets.ts';
import { outcomeOf } from './outcome.ts';
import { firstOf, nestedPath, zeekPath } from './paths.ts';
import { zeekFields, zeekName } from './zeek-logs.ts';

/** How records of a kind are asked for what a rule calls by a name. */
export interface Field {
  /** The same for all names that mean the same. */
  readonly key: string;
  readonly read: Accessor;
  /** Whether records of the kind can have it. Where not it is looked for all the same, in records that sensors wrote. */
  readonly known: boolean;
}

/**
 * What a name means in records of a kind: a sensor's own name first, as it says exactly what is meant (`host` is a
 * header in http.log and an address in software.log), then the names of others for what the record has.
 */
export function resolveField(kind: RecordKind, name: string): Field {
  if ((name === 'state' || name === 'answered') && ofConnections.has(kind)) {
    const read = outcomeOf(kind, (other) => resolveField(kind, other).read)[name];
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

/** Objects in the place of dots, as ingest gives them; what has no other name is asked for by its own. */
function ecsField(kind: RecordKind, name: string): Field {
  const alias = aliasField(kind, 'ecs', name);
  if (alias !== undefined) return alias;
  const own = byName.get(name.toLowerCase())?.names.split(' ', 1)[0] ?? name;
  return { key: own, read: nestedPath(own), known: isEcsName(own) };
}

function zeekField(kind: RecordKind, log: string, name: string): Field {
  const fields = zeekFields(log);
  const found = fields === undefined ? undefined : zeekName(fields, name);
  // The one of Zeek's own fields that is a list written as a text.
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

/** Objects that records of other types carry along. */
const carried: Readonly<Record<string, readonly string[]>> = {
  alert: [
    'alert',
    'flow',
    'http',
    'dns',
    'tls',
    'smb',
    'ssh',
    'smtp',
    'email',
    'fileinfo',
    'files',
    'tcp',
    'verdict',
  ],
  flow: ['flow', 'tcp'],
  fileinfo: ['fileinfo', 'http', 'smtp', 'email', 'smb'],
  smtp: ['smtp', 'email'],
  drop: ['drop', 'alert', 'flow'],
};

/** A path in EVE: of its envelope, or within the object that is named as the type of the record. */
function suricataField(type: string, path: string): Field {
  const first = path.split('.', 1)[0]!;
  const known = envelope.has(first) || (path.includes('.') && (carried[type] ?? [type]).includes(first));
  return { key: path, read: nestedPath(path), known };
}

/** Attributes of our own events, by the names of the contract. */
const attributes: Readonly<Record<string, ReadonlySet<string>>> = {
  'candor.network_event': new Set(
    'timestamp end_time duration_ms src_ip src_port src_mac dst_ip dst_port dst_mac transport src_bytes dst_bytes src_payload_bytes dst_payload_bytes src_packets dst_packets missed_bytes state conn_state history direction community_id connection_id vlan sensor source severity src_asset_id dst_asset_id received_at'.split(
      ' ',
    ),
  ),
  'candor.dns_event': new Set(
    'timestamp src_ip src_port dst_ip dst_port transport kind transaction_id query qtype qclass rcode rcode_name authoritative truncated recursion_desired recursion_available rejected rtt_ms connection_id community_id sensor source severity src_asset_id dst_asset_id received_at'.split(
      ' ',
    ),
  ),
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

/** What records of a family have may not be in each of its logs. */
function isOf(kind: RecordKind, family: string, path: string): boolean {
  const type = kind.slice(family.length + 1);
  if (family === 'suricata') return suricataField(type, path).known;
  return family !== 'zeek' || zeekFields(type)?.has(path) !== false;
}
