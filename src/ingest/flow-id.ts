import type { JsonObject } from './fields.ts';
import { named, reject } from './rejection.ts';

/**
 * Returns Suricata's flow_id as written. The id may have 63 bits, but a double holds only 53. A larger id is
 * read again from the text, with a reviver that sees the source of every number (ECMA-262, JSON.parse source
 * text access).
 *
 * @param lineOf - returns the record's text
 */
export function flowId(record: JsonObject, lineOf: () => string): string | undefined {
  const value = record.flow_id;
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string' && /^\d{1,20}$/.test(value)) return value;
  if (typeof value !== 'number' || !(value >= 0) || value % 1 !== 0) {
    return reject('flow_id', `is ${named(value)}, not a whole number of at most 64 bits`);
  }
  if (Number.isSafeInteger(value)) return String(value);
  let source: string | undefined;
  const revive = (key: string, parsed: unknown, context?: { source?: string }): unknown => {
    if (key === 'flow_id' && parsed === value) source = context?.source;
    return parsed;
  };
  JSON.parse(lineOf(), revive);
  return source !== undefined && /^\d{1,20}$/.test(source) ? source : reject('flow_id', 'has more than 64 bits');
}
