import type { EventBlock } from '../../events/format/block.ts';
import type { AddressList } from '../../events/format/column-readers.ts';
import { limits } from '../../limits.ts';
import type { IsHome } from '../../net/home-networks.ts';
import { isAddress, parseAddress, printAddress } from '../../net/ip.ts';
import { PairIndex } from '../../sketch/pair-index.ts';
import { isHostAddress } from './addresses.ts';
import { writeCodes } from './columns.ts';
import type { NameSource, Sighting } from './sighting.ts';

/** Ports of mDNS, LLMNR and NetBIOS, where machines announce their own names. */
const localPorts: ReadonlySet<number> = new Set([5353, 5355, 137]);
const longestName = 253;

/**
 * Returns the names that DNS answers give to home addresses. Each pair of query and answer section is read only once.
 * The name is the queried name (the answer may go through aliases) or the name in a reverse lookup. Accepts answers
 * from home resolvers (and records which hosts queried them), and answers from a host on the link about itself. Other
 * responders could answer with any names.
 */
export function namesInDns(block: EventBlock, isHome: IsHome, from = 0, to: number = block.rows): Sighting[] {
  const answers = block.texts('answers');
  const queries = block.texts('query');
  if (answers.list.length === 0 || queries.list.length === 0) return [];
  const answerCodes = writeCodes(answers, from, to, new Uint16Array(to));
  const queryCodes = writeCodes(queries, from, to, new Uint16Array(to));
  const pairs = new PairIndex();
  const asked: AnsweredQuery[] = [];
  const ofLink = new Map<string, AnsweredQuery>();
  const clients = block.addresses('src_ip');
  const resolvers = block.addresses('dst_ip');
  const ports = block.numbers('dst_port');
  const isTrusted = trustedResolvers(resolvers.list, isHome);
  for (let row = from; row < to; row++) {
    if (answerCodes[row] === 0 || queryCodes[row] === 0) continue;
    const resolver = resolvers.code(row) - 1;
    if (resolver < 0 || !isTrusted(resolver)) continue;
    const client = clients.code(row) - 1;
    const texts = { answers: answerCodes[row]!, query: queryCodes[row]!, row };
    // The last row with an answer is used, because it has the latest time.
    if (localPorts.has(ports.at(row))) {
      const ends = [client < 0 ? '' : clients.list.text(client), resolvers.list.text(resolver)];
      ofLink.set([texts.answers, texts.query, ...ends].join(' '), { ...texts, speakers: ends });
      continue;
    }
    const pair = pairs.of(texts.answers, texts.query);
    const { clients: known = [] } = asked[pair] ?? {};
    if (client >= 0 && known.length < limits.maxClientsPerName) {
      const text = clients.list.text(client);
      if (!known.includes(text)) known.push(text);
    }
    asked[pair] = { ...texts, clients: known };
  }
  const homes: (readonly string[] | undefined)[] = [];
  const found: Sighting[] = [];
  for (const each of [...asked, ...ofLink.values()]) {
    const { answers: code, query: queryCode, row, clients: by, speakers } = each;
    const query = queries.list.text(queryCode - 1);
    const tell = (ip: string, name: string | undefined) => {
      if (name === undefined || speakers?.includes(ip) === false) return;
      const source = sourceOf(name, ports.at(row));
      const at = block.numbers('timestamp').at(row);
      found.push({ kind: 'name', ip, name, from: source, at, ...(by === undefined ? {} : { clients: by }) });
    };
    if (/\.arpa\.?$/i.test(query)) {
      const ip = reversed(query, isHome);
      if (ip !== undefined) for (const name of pointers(answers.list.text(code - 1))) tell(ip, nameOf(name));
      continue;
    }
    homes[code] ??= homeAddresses(answers.list.text(code - 1), isHome);
    if (homes[code].length === 0) continue;
    const name = nameOf(query);
    for (const ip of homes[code]) tell(ip, name);
  }
  return found;
}

/** Answers to a query, by the codes of their texts, with the last row of each answer. */
interface AnsweredQuery {
  readonly answers: number;
  readonly query: number;
  readonly row: number;
  /** Clients of a resolver. */
  readonly clients?: string[];
  /** Source and destination of a message on a link, because a host may announce its own name. */
  readonly speakers?: readonly string[];
}

/** Returns a function that tests whether an address is a home address, or a multicast or broadcast address. */
function trustedResolvers(list: AddressList, isHome: IsHome): (place: number) => boolean {
  const known: (boolean | undefined)[] = [];
  const bytes = new Uint8Array(16);
  return (place) => {
    if (known[place] === undefined) {
      list.write(place, bytes, 0);
      known[place] = isHome(bytes) || !isHostAddress(list, place);
    }
    return known[place];
  };
}

/**
 * Returns the home address of a reverse lookup (RFC 1035, section 3.5; RFC 3596, section 2.5); undefined for other
 * names.
 */
function reversed(query: string, isHome: IsHome): string | undefined {
  const [, v4, v6] = /^(?:((?:\d{1,3}\.){4})in-addr|((?:[0-9a-f]\.){32})ip6)\.arpa\.?$/i.exec(query) ?? [];
  const parts = (v4 ?? v6)?.split('.').slice(0, -1).reverse();
  if (parts === undefined) return undefined;
  const text = v4 === undefined ? parts.join('').match(/..../g)!.join(':') : parts.join('.');
  const bytes = new Uint8Array(16);
  return parseAddress(text, bytes) && isHome(bytes) ? printAddress(bytes) : undefined;
}

/** Returns the names in the PTR records of an answer section (JSON). */
function pointers(json: string): string[] {
  const records = JSON.parse(json) as { type?: string; data?: string }[];
  return records.flatMap(({ type, data }) =>
    data !== undefined && (type === undefined || type === 'PTR') && !isAddress(data) ? [data] : [],
  );
}

/** Returns the home addresses in the records of an answer section (JSON). */
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

/** Returns a host name: lower case, without a final dot; undefined for other texts. */
function nameOf(query: string): string | undefined {
  const name = (query.endsWith('.') ? query.slice(0, -1) : query).toLowerCase();
  return /^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$/.test(name) && name.length <= longestName ? name : undefined;
}

const sourceOf = (name: string, port: number): NameSource =>
  localPorts.has(port) || name.endsWith('.local') ? 'mdns' : 'dns';
