import type { Contact } from '../events/contact.ts';
import { isAddress } from '../events/ip.ts';
import { limits } from '../limits.ts';
import { direction } from './addresses.ts';
import type { Reading } from './reading.ts';

/** Hosts that the records of one body name, each pair of ends and host once. Bounded by `limits.maxBodySightings`. */
export class Contacts {
  readonly #found = new Map<string, Contact>();
  /** Something was not kept. */
  overflowed = false;

  add(contact: Contact): void {
    const { part, value, src_ip, dst_ip, dst_port, sensor } = contact;
    const key = [part, value, src_ip, dst_ip, dst_port, sensor].join('\n');
    if (!this.#found.has(key) && this.#found.size >= limits.maxBodySightings) this.overflowed = true;
    else this.#found.set(key, contact);
  }

  list(): Contact[] {
    return [...this.#found.values()];
  }
}

/** The ends of a record that names hosts, as the sensor wrote them: the record is not stored, so that none is required. */
interface NamingRecord {
  readonly src: unknown;
  readonly dst: unknown;
  readonly port: unknown;
  readonly transport: 'tcp' | 'udp';
  readonly answered: boolean;
  /** As the sensor wrote it. */
  readonly time: unknown;
  readonly timeOf: (time: unknown, field: string) => number;
}

/** Takes the hosts that a record names. Values that are no host are passed over, and so are own addresses. */
export function takeContacts(
  part: Contact['part'],
  hosts: readonly unknown[],
  record: NamingRecord,
  { addresses, batch }: Reading,
): void {
  const address = (value: unknown) =>
    typeof value === 'string' && isAddress(value) ? addresses.optional(value, part) : undefined;
  const named = new Set(hosts.map(hostIn).filter((host) => host !== undefined));
  const src = address(record.src);
  const dst = address(record.dst);
  // A sender outside names whatever host it likes, so that it could raise alerts about home hosts.
  if (src === undefined || dst === undefined || direction(src, dst) === 'inbound') return;
  if ((record.time ?? undefined) === undefined) return;
  for (const value of named) {
    // The connection itself is compared by its addresses.
    if (value === dst.text || address(value)?.home === true) continue;
    batch.meet({
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

/** A URL that names its host: what proxies are asked for. Others are paths on the host that the request names. */
export const absoluteUrl = (uri: unknown, method: unknown): unknown =>
  typeof uri === 'string' && (method === 'CONNECT' || uri.includes('://')) ? uri : undefined;

const isPort = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 65_535;

/** The host of a URL, or of `host:port`. */
function hostIn(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const [, ip, name] =
    /^(?:[a-z][a-z0-9+.-]{0,20}:\/\/)?(?:[^/@]{0,200}@)?(?:\[([0-9a-f:.]+)\]|([^/:?#[\]]{1,255}))/i.exec(
      value,
    ) ?? [];
  return ip ?? name?.toWellFormed();
}
