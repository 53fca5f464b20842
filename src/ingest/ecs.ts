import { absoluteUrl, takeContacts } from './contacts.ts';
import { ecsDns, isEcsDns } from './ecs-dns.ts';
import { field, nested, numeric, single, values } from './ecs-document.ts';
import { hasEnd } from './ecs-ends.ts';
import { ecsNetwork } from './ecs-network.ts';
import { eveLeft, readEcsOfSuricata } from './ecs-suricata.ts';
import { readEcsOfZeek, zeekSet } from './ecs-zeek.ts';
import { isObject, type JsonObject, zeekTime } from './fields.ts';
import type { Reading } from './reading.ts';
import { reject } from './rejection.ts';

/** What a document has become: the kind under which rules are asked about it, and the record that they are asked about. */
export interface EcsRead {
  readonly kind: string;
  readonly record: JsonObject;
}

const category = field('event.category');
const kind = field('event.kind');
const type = field('event.type');
const zeek = field('zeek');

/** Categories of what is seen on networks; `network_traffic` is Packetbeat's before 8. */
const ofNetworks: readonly unknown[] = ['network', 'network_traffic', 'intrusion_detection'];

/**
 * One document of the Elastic Common Schema. It is one where it has `@timestamp` and
 *
 *   - `suricata.eve` with an `event_type`: what is left of an EVE record
 *   - `zeek` with an object in it: what is left of a log's record; or `event.dataset: zeek.…` with an `event.category`
 *   - `event.category` with `network`, `network_traffic` or `intrusion_detection`, and both `source.ip` and `destination.ip`
 *     (of DNS `client.ip` and `server.ip` do)
 *   - `event.kind` and `event.category` with none of these: of a kind that is not stored
 *
 * None of our own records, of Zeek's and of Suricata's has these. What such a document says is complete without the text
 * that it may have been made of (`event.original`, `message`), and may have been put right or hidden on the way: it comes
 * first, so that keeping the original or not makes no other event. A document that lacks any of this tells nothing but the
 * text in it.
 *
 * Records of Zeek and Suricata are given back the sensor's names, so that they become what the sensor's own would have
 * become, and rules for the sensor see them; rules see all others as `ecs.connection`, `ecs.dns`, `ecs.http`, `ecs.tls` or
 * `ecs.other`, with objects in the place of dots.
 *
 * @param lineOf - the document's text
 * @param only - nothing else is expected: what is missing is said by name
 * @returns undefined, and nothing done, where it is none
 */
export function readEcs(
  given: JsonObject,
  lineOf: () => string,
  reading: Reading,
  only = false,
): EcsRead | undefined {
  if ((given['@timestamp'] ?? undefined) === undefined)
    return only ? reject('@timestamp', 'is missing') : undefined;
  const document = nested(given);
  const { batch } = reading;
  batch.source = 'ecs';
  try {
    const eve = eveLeft(document);
    if (eve !== undefined) return readEcsOfSuricata(document, eve, lineOf, reading);
    const categories = values(category(document));
    const set = zeekSet(document);
    if (set !== undefined && (categories.length > 0 || hasObject(zeek(document))))
      return readEcsOfZeek(document, set, reading);
    return readPlain(document, categories, reading, only);
  } finally {
    batch.source = undefined;
  }
}

function hasObject(value: unknown): boolean {
  return isObject(value) && Object.values(value).some(isObject);
}

function readPlain(
  document: JsonObject,
  categories: readonly unknown[],
  reading: Reading,
  only: boolean,
): EcsRead | undefined {
  if (categories.length === 0) return only ? reject('event.category', 'is missing') : undefined;
  if (!categories.some((one) => ofNetworks.includes(one))) {
    if (kind(document) === undefined && !only) return undefined;
    return ignored('other', document, reading);
  }
  const dns = isEcsDns(document);
  const complete =
    (hasEnd(document, 'source') && hasEnd(document, 'destination')) ||
    (dns && hasEnd(document, 'client') && hasEnd(document, 'server'));
  if (!complete && !only) return undefined;
  if (dns) {
    reading.batch.addDns(ecsDns(document, reading));
    return { kind: 'ecs.dns', record: document };
  }
  const transaction = transactionOf(document);
  if (transaction !== undefined) return ignored(transaction, document, reading);
  reading.batch.addNetwork(ecsNetwork(document, reading));
  return { kind: 'ecs.connection', record: document };
}

/** A document about what is said in a connection: the flow that it is in comes in one of its own. */
function transactionOf(document: JsonObject): 'http' | 'tls' | 'other' | undefined {
  if (!values(type(document)).includes('protocol')) return undefined;
  if (isObject(document.http) || isObject(document.url)) return 'http';
  return isObject(document.tls) ? 'tls' : 'other';
}

const timestamp = field('@timestamp');
const established = field('tls.established');
const statusCode = field('http.response.status_code');
const serverName = field('tls.client.server_name');
const method = field('http.request.method');
const urls = ['url.original', 'url.full'].map(field);
const hosts = ['url.domain', 'destination.domain', 'server.domain'].map(field);

/** HTTP and TLS documents are not stored; the hosts that they name are compared with the intelligence lists. */
function ignored(what: 'http' | 'tls' | 'other', document: JsonObject, reading: Reading): EcsRead {
  reading.batch.ignore();
  const { source, destination } = document;
  if (what !== 'other' && isObject(source) && isObject(destination)) {
    const record = {
      src: single(source.ip),
      dst: single(destination.ip),
      port: numeric(destination.port),
      transport: 'tcp',
      time: timestamp(document),
      timeOf: zeekTime,
    } as const;
    if (what === 'tls') {
      const answered = established(document) === true;
      takeContacts('server_name', [serverName(document)], { ...record, answered }, reading);
    } else {
      const asked = method(document);
      const named = [
        ...hosts.map((read) => read(document)),
        ...urls.map((read) => absoluteUrl(read(document), asked)),
      ];
      const answered = statusCode(document) !== undefined;
      takeContacts('http_host', named, { ...record, answered }, reading);
    }
  }
  return { kind: `ecs.${what}`, record: document };
}
