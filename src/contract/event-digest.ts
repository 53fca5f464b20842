import { shownProtocols } from './app-protocols.ts';
import { jcs } from './jcs.ts';

/**
 * The part of an event that the digest in an `alert.raised` entry covers. Shared by the service, which
 * computes the digest, and the client, which verifies it.
 */

/** Members that the service derives when it serves an event. Later versions or new data may change them. */
export const derivedAttributes: readonly string[] = ['end_time', 'registered_domain', 'src_asset_id', 'dst_asset_id'];

/** An event as the API serves it. */
export interface ServedEvent {
  readonly id: string;
  readonly type: string;
  readonly attributes: object;
}

/**
 * Returns the value whose JCS form (RFC 8785) is hashed: the resource without derived attributes, and with
 * its protocols as the single stored text.
 */
export function digestedPart({ id, type, attributes }: ServedEvent): ServedEvent {
  const kept = Object.entries(storedForm(attributes)).filter(([name]) => !derivedAttributes.includes(name));
  return { id, type, attributes: Object.fromEntries(kept) };
}

/**
 * Returns the attributes with the protocols in their stored form; unchanged if there are no `app_protocols`, or if the
 * attributes are inconsistent.
 */
export function storedForm(attributes: object): Record<string, unknown> {
  const { app_protocols, app_protocol_stored, ...rest } = attributes as Record<string, unknown>;
  if (!Array.isArray(app_protocols)) return { ...attributes };
  const app_protocol = typeof app_protocol_stored === 'string' ? app_protocol_stored : app_protocols.join(',');
  const shown = { ...rest, ...shownProtocols(app_protocol) };
  return jcs(shown) === jcs(attributes) ? { ...rest, app_protocol } : { ...attributes };
}
