import { noData } from '../../contract/splunk.ts';
import { invalidField } from '../../errors.ts';
import type { Items } from '../items.ts';
import { eachLine, eachValue, textStart } from '../split.ts';
import type { SplunkFraming } from './framing.ts';
import { skipBlank } from './splunk-envelope.ts';
import { nameOf } from './splunk-event.ts';

/**
 * What Splunk's HTTP Event Collector calls raw: a record a line, of any kind of ours, or an array of them. Objects may
 * follow each other on one line: Vector puts nothing between those that it sends.
 */
export function splunkRaw(bytes: Buffer, items: Items, { host }: SplunkFraming<'splunk_raw'>): undefined {
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

/** Where an object may follow another right behind it; past the end where none does. */
function nextPair(bytes: Buffer, from: number): number {
  const found = bytes.indexOf('}{', from, 'latin1');
  return found < 0 ? Number.POSITIVE_INFINITY : found;
}
