import { digestedPart, type ServedEvent } from '../contract/event-digest.ts';
import { jcs } from '../contract/jcs.ts';
import { bytesToHex } from '../tlog/hex.ts';
import { hex } from './exact-json.ts';
import { AuditFault } from './fault.ts';
import { sha256 } from './sha256.ts';

const encoder = new TextEncoder();

/**
 * The members of an `alert.raised` entry's data that commit to events. Entries of earlier versions lack them.
 */
export interface AlertDigest {
  readonly events?: readonly { readonly id: string; readonly sha256: string }[];
  readonly events_digest?: string;
  readonly events_count?: number;
}

/** Returns the SHA-256 (hex) of an event as served by `GET /api/v1/events/…`, without its derived attributes. */
export function eventHash(event: ServedEvent): string {
  return bytesToHex(sha256(encoder.encode(jcs(digestedPart(event)))));
}

/**
 * Compares events as served by the API with the hashes in an alert's entry. Returns a fault if the hash of an event
 * differs. Events that are not given, such as events past retention, are listed as missing.
 */
export function verifyAlertEvents(
  { events, events_digest, events_count }: AlertDigest,
  served: readonly ServedEvent[],
): { verified: string[]; missing: string[] } | AuditFault {
  if (events === undefined || events_digest === undefined)
    return new AuditFault('WRONG_EVENT', 'the entry has no digest of events: it is from an earlier version');
  const hashes = hex(events.map((event) => event.sha256).join(''), 32 * events.length);
  const whole = hashes !== undefined && bytesToHex(sha256(hashes)) === events_digest;
  if (!whole || events_count !== events.length)
    return new AuditFault('WRONG_EVENT', 'events_digest does not match the hashes in the entry');
  const given = new Map(served.map((event) => [event.id, event]));
  const verified: string[] = [];
  const missing: string[] = [];
  for (const { id, sha256: logged } of events) {
    const event = given.get(id);
    if (event === undefined) missing.push(id);
    else if (eventHash(event) === logged) verified.push(id);
    else return new AuditFault('WRONG_EVENT', `event ${id} differs from the logged one: its hash is different`);
  }
  return { verified, missing };
}
