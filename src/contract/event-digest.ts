/**
 * Which part of an event the digest in an `alert.raised` entry covers, for the service that makes it and for the client
 * that checks it.
 */

/** Members that the service derives when it serves an event: a later version or more knowledge may change them. */
const derived: readonly string[] = ['end_time', 'registered_domain', 'src_asset_id', 'dst_asset_id'];

/** An event as the API serves it. */
export interface ServedEvent {
  readonly id: string;
  readonly type: string;
  readonly attributes: object;
}

/** The value whose JCS form (RFC 8785) is hashed: the resource without its derived attributes. */
export function digestedPart({ id, type, attributes }: ServedEvent): ServedEvent {
  const kept = Object.entries(attributes).filter(([name]) => !derived.includes(name));
  return { id, type, attributes: Object.fromEntries(kept) };
}
