import type { EventBlock } from '../events/block.ts';
import type { IsHome } from '../events/home-networks.ts';
import { parseAddress, printAddress } from '../events/ip.ts';
import { writeCodes } from './columns.ts';
import { PairIndex } from './pair-index.ts';
import type { NameSource, Sighting } from './sighting.ts';

/** mDNS, LLMNR and NetBIOS: names that machines give themselves. */
const localPorts: ReadonlySet<number> = new Set([5353, 5355, 137]);
const longestName = 253;

/**
 * The names that answers of DNS give to addresses of the home networks: each name with each address once. The name
 * is the one that was asked for, which an answer may reach through aliases.
 */
export function namesInDns(block: EventBlock, isHome: IsHome, from = 0, to: number = block.rows): Sighting[] {
  const answers = block.texts('answers');
  const queries = block.texts('query');
  if (answers.list.length === 0 || queries.list.length === 0) return [];
  const answerCodes = writeCodes(answers, from, to, new Uint16Array(to));
  const queryCodes = writeCodes(queries, from, to, new Uint16Array(to));
  const pairs = new PairIndex();
  const rows: number[] = [];
  for (let row = from; row < to; row++) {
    if (answerCodes[row] === 0 || queryCodes[row] === 0) continue;
    // The last row of each pair counts: it has the latest time.
    rows[pairs.of(answerCodes[row]!, queryCodes[row]!)] = row;
  }
  const homes: (readonly string[] | undefined)[] = [];
  const found: Sighting[] = [];
  for (let i = 0; i < pairs.length; i++) {
    const code = pairs.a[i]!;
    homes[code] ??= homeAddresses(answers.list.text(code - 1), isHome);
    if (homes[code].length === 0) continue;
    const name = nameOf(queries.list.text(pairs.b[i]! - 1));
    if (name === undefined) continue;
    const row = rows[i]!;
    const source = sourceOf(name, block.numbers('dst_port').at(row));
    for (const ip of homes[code])
      found.push({ kind: 'name', ip, name, from: source, at: block.numbers('timestamp').at(row) });
  }
  return found;
}

/** The home addresses among the records of an answer section (JSON). */
function homeAddresses(json: string, isHome: IsHome): readonly string[] {
  if (!json.includes('"data"')) return none;
  const bytes = new Uint8Array(16);
  const found = new Set<string>();
  for (const { type, data } of JSON.parse(json) as { type?: string; data: string }[]) {
    if (type !== undefined && type !== 'A' && type !== 'AAAA') continue;
    if (parseAddress(data, bytes) && isHome(bytes)) found.add(printAddress(bytes));
  }
  return [...found];
}
const none: readonly string[] = [];

/** A name of a host: lower case, without a final dot; undefined for what can be none. */
function nameOf(query: string): string | undefined {
  const name = (query.endsWith('.') ? query.slice(0, -1) : query).toLowerCase();
  return /^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$/.test(name) && name.length <= longestName ? name : undefined;
}

const sourceOf = (name: string, port: number): NameSource =>
  localPorts.has(port) || name.endsWith('.local') ? 'mdns' : 'dns';
