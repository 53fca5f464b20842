import { shownProtocols } from './app-protocols.ts';
import { jcs } from './jcs.ts';

/**
 * Which part of an event the digest in an `alert.raised` entry covers, for the service that makes it and for the client
 * that checks it.
 */

/** Members that the service derives when it serves an event: a later version or more knowledge may change them. */
export const derivedAttributes: readonly string[] = [
  'end_time',
  'registered_domain',
  'src_asset_id',
  'dst_asset_id',
];

/** An event as the API serves it. */
export interface ServedEvent {
  readonly id: string;
  readonly type: string;
  readonly attributes: object;
}

/**
 * The value whose JCS form (RFC 8785) is hashed: the resource without its derived attributes, and with its protocols as
 * the one text that is stored.
 */
export function digestedPart({ id, type, attributes }: ServedEvent): ServedEvent {
  const kept = Object.entries(storedForm(attributes)).filter(([name]) => !derivedAttributes.includes(name));
  return { id, type, attributes: Object.fromEntries(kept) };
}

/** The attributes with the protocols as they are stored; unchanged where they do not fit together. */
export function storedForm(attributes: object): Record<string, unknown> {
  const { app_protocols, app_protocol_stored, ...rest } = attributes as Record<string, unknown>;
  if (!Array.isArray(app_protocols)) return { ...attributes };
  const app_protocol =
    typeof app_protocol_stored === 'string' ? app_protocol_stored : app_protocols.join(',');
  const shown = { ...rest, ...shownProtocols(app_protocol) };
  return jcs(shown) === jcs(attributes) ? { ...rest, app_protocol } : { ...attributes };
}
