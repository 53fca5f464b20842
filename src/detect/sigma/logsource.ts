import type { Logsource } from './document.ts';
import { shown } from './fault.ts';
import { zeekLogs } from './fields/zeek-logs.ts';
import type { RecordKind } from './record.ts';

/** The kinds of record to which a log source refers. */
export interface Routed {
  readonly kinds: readonly RecordKind[];
  /**
   * Kinds that replace the records for which the rule was written. The rule applies to such a kind only if the kind has
   * all fields of the rule. If a field of an exception were missing, the rule would match records that the exception
   * excludes.
   */
  readonly standIns: readonly RecordKind[];
}

const conn = ['zeek.conn', 'zeek.open_conn', 'zeek.conn_long'] as const;
const connections = [...conn, 'suricata.flow', 'ecs.connection', 'candor.network_event'] as const;
const names = ['zeek.dns', 'suricata.dns', 'ecs.dns', 'candor.dns_event'] as const;
const web = ['zeek.http', 'suricata.http', 'ecs.http'] as const;
/**
 * Kinds of ECS records. Excludes ECS records from Zeek and Suricata, because these are converted back to the sensor's
 * names.
 */
const ecsKinds = ['ecs.connection', 'ecs.dns', 'ecs.http', 'ecs.tls', 'ecs.other'] as const;

/** Categories of content, independent of the sensor, and services of the category `network`. */
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

/** Products whose hosts log connections and names that sensors also observe. */
const hosts: ReadonlySet<string> = new Set(['windows', 'linux', 'macos']);

/** Suricata's record types for which there are rules. */
const suricataTypes =
  'alert anomaly dcerpc dhcp dnp3 dns drop fileinfo flow ftp ftp_data http http2 ike krb5 ldap modbus mqtt netflow nfs quic rdp rfb sip smb smtp snmp ssh tftp tls websocket'.split(
    ' ',
  );

/**
 * Returns the kinds of record for a log source (Sigma taxonomy 2.1.0), or the reason why it is not supported.
 * Candor's own format replaces Zeek logs, because history is stored in Candor's format. ECS documents with equal
 * content replace Zeek logs as well.
 */
export function route({ category, product, service }: Logsource): Routed | { readonly reason: string } {
  if (category === undefined && product === undefined && service === undefined)
    return { reason: 'has no category, product or service: set at least one' };
  const ofCategory = kindsOf(category, service);
  if (product === undefined) {
    if (ofCategory !== undefined) return { kinds: ofCategory, standIns: [] };
    return { reason: `is for ${named(category, service)}, which is not a supported log source` };
  }
  if (hosts.has(product) && (category === 'dns_query' || category === 'network_connection') && service === undefined)
    return { kinds: [], standIns: ofCategory ?? [] };
  const all = productKinds(product, service);
  if (all === undefined) return { reason: `is for ${shown(product)}, which is not a supported log source` };
  const kinds = category === undefined ? all : all.filter((kind) => ofCategory?.includes(kind));
  if (kinds.length === 0)
    return {
      reason: `is for ${named(category, service)} of ${shown(product)}, which is not a supported log source`,
    };
  return {
    kinds,
    standIns: product === 'zeek' ? standIns.filter(({ kind }) => kinds.includes(kind)).map(({ by }) => by) : [],
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

function kindsOf(category: string | undefined, service: string | undefined): readonly RecordKind[] | undefined {
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

/**
 * Returns true if a filter's log source includes the log source of a rule: the rule has each of the filter's
 * attributes.
 */
export function includesLogsource(filter: Logsource, rule: Logsource): boolean {
  return (['category', 'product', 'service'] as const).every(
    (part) => filter[part] === undefined || filter[part] === rule[part],
  );
}
