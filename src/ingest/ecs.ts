import { ecsDns, isEcsDns } from './ecs-dns.ts';
import { field, nested, numeric, single, values } from './ecs-document.ts';
import { hasEnd } from './ecs-ends.ts';
import { ecsNetwork } from './ecs-network.ts';
import { eveLeft, readEcsOfSuricata } from './ecs-suricata.ts';
import { readEcsOfZeek, zeekSet } from './ecs-zeek.ts';
import { isObject, type JsonObject, zeekTime } from './fields.ts';
import { absoluteUrl, takeNamedHosts } from './named-hosts.ts';
import type { ParseContext } from './parse-context.ts';
import { reject } from './rejection.ts';

/** The record kind, and the record that rules are evaluated against. */
export interface EcsRead {
  readonly kind: string;
  readonly record: JsonObject;
}

const category = field('event.category');
const kind = field('event.kind');
const type = field('event.type');
const zeek = field('zeek');

/** Event categories of network activity. Packetbeat before version 8 writes `network_traffic`. */
const ofNetworks: readonly unknown[] = ['network', 'network_traffic', 'intrusion_detection'];

/**
 * Reads one document of the Elastic Common Schema. It must have `@timestamp` and one of
 * - `suricata.eve` with an `event_type`: the remainder of an EVE record
 * - `zeek` with an object in it: the remainder of a log's record; or `event.dataset: zeek.…` with an
 *   `event.category`
 * - `event.category` with `network`, `network_traffic` or `intrusion_detection`, and both `source.ip` and
 *   `destination.ip` (for DNS also `client.ip` and `server.ip`)
 * - `event.kind` and `event.category`, without the fields listed above: a kind that is not stored
 *
 * Native records and records of Zeek and Suricata never have these fields. A document with these fields is complete
 * without the original text (`event.original`, `message`), and may have been corrected or redacted by shippers. Its
 * fields therefore take precedence, so that an included original does not change the event. If a document has none of
 * these fields, only the text in the document is read.
 *
 * Records of Zeek and Suricata get the sensor's field names back, so that events and rules do not depend on
 * the shipper. Rules see all other documents as `ecs.connection`, `ecs.dns`, `ecs.http`, `ecs.tls` or
 * `ecs.other`, with objects instead of dots.
 *
 * @param lineOf - returns the document's text
 * @param only - true to reject other records with the name of the missing field
 * @returns undefined, without any effect, if the record is not such a document
 */
export function readEcs(
  given: JsonObject,
  lineOf: () => string,
  reading: ParseContext,
  only = false,
): EcsRead | undefined {
  if ((given['@timestamp'] ?? undefined) === undefined) return only ? reject('@timestamp', 'is missing') : undefined;
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
  reading: ParseContext,
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

/**
 * Returns the kind of a document about the contents of a connection; undefined for other documents. The sender
 * describes the flow of the connection in a separate document.
 */
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

/**
 * Reads a document that is not stored. Hosts that HTTP and TLS documents name are compared with the
 * intelligence lists.
 */
function ignored(what: 'http' | 'tls' | 'other', document: JsonObject, reading: ParseContext): EcsRead {
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
      takeNamedHosts('server_name', [serverName(document)], { ...record, answered }, reading);
    } else {
      const asked = method(document);
      const named = [...hosts.map((read) => read(document)), ...urls.map((read) => absoluteUrl(read(document), asked))];
      const answered = statusCode(document) !== undefined;
      takeNamedHosts('http_host', named, { ...record, answered }, reading);
    }
  }
  return { kind: `ecs.${what}`, record: document };
}
