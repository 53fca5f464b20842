import { noData } from '../../contract/splunk.ts';
import { invalidField } from '../../errors.ts';
import type { ItemReader } from '../item-reader.ts';
import { eachLine, eachValue, textStart } from '../split.ts';
import type { SplunkFraming } from './framing.ts';
import { skipBlank } from './splunk-envelope.ts';
import { nameOf } from './splunk-event.ts';

/**
 * Reads the body of Splunk's raw endpoint: each line is a record of any supported kind, or an array of records.
 * A line may also contain several objects, because Vector sends objects without separators.
 */
export function splunkRaw(bytes: Buffer, items: ItemReader, { host }: SplunkFraming<'splunk_raw'>): undefined {
  const sensor = nameOf(host);
  const envelope = sensor === undefined ? undefined : { id: undefined, sensor, at: undefined };
  const take = (start: number, end: number) => items.bytes(start, end, envelope);
  const start = skipBlank(bytes, textStart(bytes), bytes.length);
  if (bytes[start] === openBracket) eachValue(bytes, take);
  else {
    let pair = nextPair(bytes, start);
    eachLine(bytes, (from, to) => {
      if (pair < from) pair = nextPair(bytes, from);
      if (pair >= to || bytes[from] !== openBrace) take(from, to);
      else eachValue(bytes.subarray(from, to), (first, last) => take(from + first, from + last));
    });
  }
  if (items.count === 0) throw invalidField(noData.field, noData.reason);
}

const openBracket = 91;
const openBrace = 123;

/**
 * Returns the position where an object directly follows another object; otherwise a position past the end.
 */
function nextPair(bytes: Buffer, from: number): number {
  const found = bytes.indexOf('}{', from, 'latin1');
  return found < 0 ? Number.POSITIVE_INFINITY : found;
}
