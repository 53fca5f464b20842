import type { BareReply, Header } from '../reply.ts';
import type { RequestHead } from '../request.ts';

/** Header that Elasticsearch clients require in every response, including errors. */
const product: Header = ['X-Elastic-Product', 'Elasticsearch'];

/**
 * Returns the media type that the client requested: the type of a version of Elasticsearch's interface, otherwise JSON.
 * A client that names a version in `Accept`, or only in `Content-Type`, refuses responses of another type.
 */
function mediaTypeFor(head: RequestHead): string {
  const version = versionOf(head);
  return version === undefined ? 'application/json' : `application/vnd.elasticsearch+json;compatible-with=${version}`;
}

function versionOf({ headers }: RequestHead): string | undefined {
  const asked = headers.get('accept') ?? '';
  const said = /application\//i.test(asked) ? asked : (headers.get('content-type') ?? '');
  return /application\/vnd\.elasticsearch\+(?:x-nd)?json *; *compatible-with *= *"?(\d{1,2})/i.exec(said)?.[1];
}

/**
 * Returns whether the client names a version of the interface, as the official clients do since version 8.
 */
export const isVersioned = (head: RequestHead): boolean => versionOf(head) !== undefined;

export function elasticsearchHeaders(head: RequestHead): Header[] {
  return [['Content-Type', mediaTypeFor(head)], product];
}

/** Returns a JSON response in Elasticsearch's form. */
export function elasticsearchReply(head: RequestHead, body: string | Uint8Array): BareReply {
  return { kind: 'bare', status: 200, mediaType: mediaTypeFor(head), body, headers: [product] };
}
