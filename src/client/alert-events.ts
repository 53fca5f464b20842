import { digestedPart, type ServedEvent } from '../contract/event-digest.ts';
import { bytesToHex } from '../tlog/hex.ts';
import { hex } from './exact-json.ts';
import { Fault } from './fault.ts';
import { jcs } from './jcs.ts';
import { sha256 } from './sha256.ts';

const encoder = new TextEncoder();

/** The part of an `alert.raised` entry's data that commits to events. Entries of earlier versions lack it. */
export interface AlertDigest {
  readonly events?: readonly { readonly id: string; readonly sha256: string }[];
  readonly events_digest?: string;
  readonly events_count?: number;
}

/** SHA-256 (hex) of an event as `GET /api/v1/events/…` serves it. */
export function eventHash(event: ServedEvent): string {
  return bytesToHex(sha256(encoder.encode(jcs(digestedPart(event)))));
}

/**
 * Compares events, as the API serves them now, with what an alert's entry committed to. Events that are past retention
 * can't be given and are counted as missing.
 */
export function verifyAlertEvents(
  { events, events_digest, events_count }: AlertDigest,
  served: readonly ServedEvent[],
): { verified: string[]; missing: string[] } | Fault {
  if (events === undefined || events_digest === undefined)
    return new Fault('WRONG_EVENT', 'the entry has no digest of events: an earlier version logged it');
  const hashes = hex(events.map((event) => event.sha256).join(''), 32 * events.length);
  const whole = hashes !== undefined && bytesToHex(sha256(hashes)) === events_digest;
  if (!whole || events_count !== events.length)
    return new Fault('WRONG_EVENT', 'events_digest is not the digest of the hashes in the entry');
  const given = new Map(served.map((event) => [event.id, event]));
  const verified: string[] = [];
  const missing: string[] = [];
  for (const { id, sha256: logged } of events) {
    const event = given.get(id);
    if (event === undefined) missing.push(id);
    else if (eventHash(event) === logged) verified.push(id);
    else return new Fault('WRONG_EVENT', `event ${id} is not the one that was logged: its hash differs`);
  }
  return { verified, missing };
}
