import type { NamedHost } from '../events/derived-data.ts';
import { limits } from '../limits.ts';
import { hostName } from '../net/host-name.ts';
import { isAddress } from '../net/ip.ts';
import { direction } from './addresses.ts';
import { text } from './fields.ts';
import type { ParseContext } from './parse-context.ts';

/** Reads a host name. Returns undefined if the value is missing or not a host name. */
export function hostNameField(value: unknown, field: string): string | undefined {
  const name = text(value, field);
  return name === undefined ? undefined : hostName(name);
}

/**
 * Returns whether a certificate covers the host, by the common name of its subject or an alternative name;
 * `*` is one label.
 */
export function inCertificate(host: string, subject: unknown, alternatives?: unknown): boolean {
  const common = typeof subject === 'string' ? /(?:^|[,/]\s*)CN=([^,/]{1,255})/i.exec(subject)?.[1] : undefined;
  const names = [common, ...(Array.isArray(alternatives) ? alternatives : [])];
  const above = host.replace(/^[^.]+/, '*');
  return names.some((name) => {
    if (typeof name !== 'string') return false;
    const plain = name.trim().toLowerCase();
    return plain === host || (plain === above && above.split('.').length > 2);
  });
}

/**
 * Returns whether a port is a proxy port. Clients of an explicit proxy (CONNECT, SOCKS) receive certificates of
 * other servers through the proxy.
 */
export const isProxyPort = (port: unknown): boolean => proxyPorts.has(port);
const proxyPorts: ReadonlySet<unknown> = new Set([1080, 3128, 8000, 8080, 8081, 8118, 8888, 9050, 9090]);

/**
 * Hosts named in the records of a batch: the last report for each source, destination, port and sensor. Bounded by
 * `limits.maxBodySightings`.
 */
export class NamedHosts {
  readonly #found = new Map<string, NamedHost>();
  /** True if a host was left out because of the limit. */
  overflowed = false;

  add(host: NamedHost): void {
    const { part, value, src_ip, dst_ip, dst_port, sensor } = host;
    const key = [part, value, src_ip, dst_ip, dst_port, sensor].join('\n');
    if (!this.#found.has(key) && this.#found.size >= limits.maxBodySightings) this.overflowed = true;
    else this.#found.set(key, host);
  }

  list(): NamedHost[] {
    return [...this.#found.values()];
  }
}

/**
 * Unchecked addresses and time of a record that names hosts. The record need not become an event, so every value
 * may be missing or invalid.
 */
interface NamingRecord {
  readonly src: unknown;
  readonly dst: unknown;
  readonly port: unknown;
  readonly transport: 'tcp' | 'udp';
  readonly answered: boolean;
  /** Time as the sensor wrote it. */
  readonly time: unknown;
  readonly timeOf: (time: unknown, field: string) => number;
}

/** Adds the hosts that a record names. Skips values that are not hosts, and home addresses. */
export function takeNamedHosts(
  part: NamedHost['part'],
  hosts: readonly unknown[],
  record: NamingRecord,
  { addresses, batch }: ParseContext,
): void {
  const address = (value: unknown) =>
    typeof value === 'string' && isAddress(value) ? addresses.optional(value, part) : undefined;
  const named = new Set(hosts.map(hostIn).filter((host) => host !== undefined));
  const src = address(record.src);
  const dst = address(record.dst);
  // Hosts named by external clients are skipped, because an external client can name any host, and could thereby
  // cause alerts about home hosts.
  if (src === undefined || dst === undefined || direction(src, dst) === 'inbound') return;
  if ((record.time ?? undefined) === undefined) return;
  for (const value of named) {
    // The destination address is skipped here, because it is compared with the lists as part of the connection.
    if (value === dst.text || address(value)?.home === true) continue;
    batch.addNamedHost({
      part,
      value,
      timestamp: record.timeOf(record.time, 'timestamp'),
      src_ip: src.text,
      dst_ip: dst.text,
      ...(isPort(record.port) ? { dst_port: record.port } : {}),
      transport: record.transport,
      direction: direction(src, dst),
      answered: record.answered,
    });
  }
}

/** Adds the fact that a home host is a proxy, if the host opened a tunnel for a home client. */
export function takeTunnel(
  method: unknown,
  status: unknown,
  { src, dst, time, timeOf }: Pick<NamingRecord, 'src' | 'dst' | 'time' | 'timeOf'>,
  { addresses, batch }: ParseContext,
): void {
  if (method !== 'CONNECT' || Math.floor(Number(status) / 100) !== 2 || (time ?? undefined) === undefined) return;
  const [client, proxy] = [src, dst].map((value) =>
    typeof value === 'string' && isAddress(value) ? addresses.optional(value, 'address') : undefined,
  );
  if (client?.home === true && proxy?.home === true)
    batch.alsoSight({ kind: 'proxy', ip: proxy.text }, timeOf(time, 'timestamp'));
}

/**
 * Returns a URI that is an absolute URL or the target of CONNECT, as in requests to proxies; undefined for a path on
 * the requested host.
 */
export const absoluteUrl = (uri: unknown, method: unknown): unknown =>
  typeof uri === 'string' && (method === 'CONNECT' || uri.includes('://')) ? uri : undefined;

const isPort = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 65_535;

/** Returns the host of a URL or of `host:port`; undefined for other values. */
function hostIn(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const [, ip, name] =
    /^(?:[a-z][a-z0-9+.-]{0,20}:\/\/)?(?:[^/@]{0,200}@)?(?:\[([0-9a-f:.]+)\]|([^/:?#[\]]{1,255}))/i.exec(value) ?? [];
  return ip ?? name?.toWellFormed();
}
