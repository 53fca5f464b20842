import type { Logsource } from './document.ts';
import { shown } from './fault.ts';
import { zeekLogs } from './fields/zeek-logs.ts';
import type { RecordKind } from './record.ts';

/** Which records a log source means. */
export interface Routed {
  readonly kinds: readonly RecordKind[];
  /**
   * Kinds that stand in for the records that the rule was written for: it is asked of them only where they have all its
   * fields, because without one that an exception asks for it would find what it spares.
   */
  readonly standIns: readonly RecordKind[];
}

const conn = ['zeek.conn', 'zeek.open_conn', 'zeek.conn_long'] as const;
const connections = [...conn, 'suricata.flow', 'ecs.connection', 'candor.network_event'] as const;
const names = ['zeek.dns', 'suricata.dns', 'ecs.dns', 'candor.dns_event'] as const;
const web = ['zeek.http', 'suricata.http', 'ecs.http'] as const;
/** Records in ECS of others than Zeek and Suricata, whose records are given back their own names. */
const ecsKinds = ['ecs.connection', 'ecs.dns', 'ecs.http', 'ecs.tls', 'ecs.other'] as const;

/** Categories that say what is in a record, whoever wrote it, and services of the category `network`. */
const generic: ReadonlyMap<string, readonly RecordKind[]> = new Map<string, readonly RecordKind[]>([
  ['dns', names],
  ['dns_query', names],
  ['firewall', connections],
  ['network_connection', connections],
  ['proxy', web],
  ['webserver', web],
  ['network', [...connections, ...names]],
  ['network connection', connections],
  ['network dns', names],
]);

/** Products whose hosts tell of connections and names what sensors see, too. */
const hosts: ReadonlySet<string> = new Set(['windows', 'linux', 'macos']);

/** Types of message that Suricata writes and rules are written for. */
const suricataTypes = [
  'alert',
  'anomaly',
  'dcerpc',
  'dhcp',
  'dnp3',
  'dns',
  'drop',
  'fileinfo',
  'flow',
  'ftp',
  'ftp_data',
  'http',
  'http2',
  'ike',
  'krb5',
  'ldap',
  'modbus',
  'mqtt',
  'netflow',
  'nfs',
  'quic',
  'rdp',
  'rfb',
  'sip',
  'smb',
  'smtp',
  'snmp',
  'ssh',
  'tftp',
  'tls',
  'websocket',
] as const;

/**
 * The records that a log source means (Sigma taxonomy 2.1.0), or the reason for which none of ours can be meant. Logs of
 * Zeek's that are stored are read again from history in our own shape, which therefore stands in for them; so do documents
 * of ECS that say the same.
 */
export function route({ category, product, service }: Logsource): Routed | { readonly reason: string } {
  if (category === undefined && product === undefined && service === undefined)
    return { reason: 'names no log source: neither category, product nor service' };
  const ofCategory = kindsOf(category, service);
  if (product === undefined) {
    if (ofCategory !== undefined) return { kinds: ofCategory, standIns: [] };
    return { reason: `is for ${named(category, service)}, of which no sensor here writes records` };
  }
  if (
    hosts.has(product) &&
    (category === 'dns_query' || category === 'network_connection') &&
    service === undefined
  )
    return { kinds: [], standIns: ofCategory ?? [] };
  const all = productKinds(product, service);
  if (all === undefined) return { reason: `is for ${shown(product)}, which writes none of the records here` };
  const kinds = category === undefined ? all : all.filter((kind) => ofCategory?.includes(kind));
  if (kinds.length === 0)
    return { reason: `is for ${named(category, service)} of ${shown(product)}, which is no record here` };
  return {
    kinds,
    standIns:
      product === 'zeek' ? standIns.filter(({ kind }) => kinds.includes(kind)).map(({ by }) => by) : [],
  };
}

const standIns = [
  { kind: 'zeek.conn', by: 'candor.network_event' },
  { kind: 'zeek.conn', by: 'ecs.connection' },
  { kind: 'zeek.dns', by: 'candor.dns_event' },
  { kind: 'zeek.dns', by: 'ecs.dns' },
  { kind: 'zeek.http', by: 'ecs.http' },
  { kind: 'zeek.ssl', by: 'ecs.tls' },
] as const;

function kindsOf(
  category: string | undefined,
  service: string | undefined,
): readonly RecordKind[] | undefined {
  if (category === undefined) return generic.get(service ?? '');
  return generic.get(service === undefined ? category : `${category} ${service}`);
}

function productKinds(product: string, service: string | undefined): readonly RecordKind[] | undefined {
  switch (product) {
    case 'zeek':
      if (service === undefined) return zeekLogs.map((log) => `zeek.${log}`);
      return service === 'conn' ? conn : [`zeek.${service}`];
    case 'suricata':
      if (service === undefined) return suricataTypes.map((type) => `suricata.${type}`);
      return [`suricata.${service}`];
    case 'ecs':
      return service === undefined ? ecsKinds : [`ecs.${service}`];
    case 'candor':
      if (service === undefined) return ['candor.network_event', 'candor.dns_event'];
      return [`candor.${service}`];
    default:
      return undefined;
  }
}

function named(category: string | undefined, service: string | undefined): string {
  const parts = [
    category === undefined ? [] : [`category ${shown(category)}`],
    service === undefined ? [] : [`service ${shown(service)}`],
  ];
  return parts.flat().join(', ');
}

/** Whether a filter for one log source is for rules of the other: all that it says, the rule says, too. */
export function includesLogsource(filter: Logsource, rule: Logsource): boolean {
  return (['category', 'product', 'service'] as const).every(
    (part) => filter[part] === undefined || filter[part] === rule[part],
  );
}
