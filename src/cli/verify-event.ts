import { type EventProofFile, verifySealedEvent } from '../client/event-proof.ts';
import { AuditFault } from '../client/fault.ts';
import type { VerifiedEntry } from '../client/verify.ts';
import type { Field } from './output.ts';

/** Returns the part of the result about the event, once the entry has been verified. */
export function eventPart(
  file: EventProofFile,
  entry: VerifiedEntry,
): { readonly lines: readonly string[]; readonly fields: Readonly<Record<string, Field>> } | AuditFault {
  const sealed = verifySealedEvent(file, entry);
  if (sealed instanceof AuditFault) return sealed;
  const { id, table, sequence, attributes, derived, neighbours } = sealed;
  const lines = [
    `event        ${id} (${table}, sequence ${sequence})`,
    'Verified: the entry covers the event with these values:',
    ...Object.entries(attributes).map(([name, value]) => `  ${name} ${JSON.stringify(value)}`),
    ...(derived.length === 0 ? [] : [`Derived by the service, not covered: ${derived.join(', ')}.`]),
    `The file discloses ${neighbours} neighbouring ${neighbours === 1 ? 'event' : 'events'}.`,
  ];
  return {
    lines,
    fields: { event_id: id, event_table: table, event_sequence: sequence, derived, neighbours },
  };
}
