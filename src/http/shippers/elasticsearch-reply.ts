import type { BareReply, Header } from '../reply.ts';
import type { RequestHead } from '../request.ts';

/** What clients of Elasticsearch look for in every answer, errors too, before they go on. */
const product: Header = ['X-Elastic-Product', 'Elasticsearch'];

/**
 * The media type that the client asked for: that of a version of Elasticsearch's interface, else JSON. A client that
 * names one in `Accept`, or only in `Content-Type`, refuses answers in another.
 */
function mediaTypeFor(head: RequestHead): string {
  const version = versionOf(head);
  return version === undefined
    ? 'application/json'
    : `application/vnd.elasticsearch+json;compatible-with=${version}`;
}

function versionOf({ headers }: RequestHead): string | undefined {
  const asked = headers.get('accept') ?? '';
  const said = /application\//i.test(asked) ? asked : (headers.get('content-type') ?? '');
  return /application\/vnd\.elasticsearch\+(?:x-nd)?json *; *compatible-with *= *"?(\d{1,2})/i.exec(
    said,
  )?.[1];
}

/** Whether the client names a version of the interface, as the official ones do since version 8. */
export const isVersioned = (head: RequestHead): boolean => versionOf(head) !== undefined;

export function elasticsearchHeaders(head: RequestHead): Header[] {
  return [['Content-Type', mediaTypeFor(head)], product];
}

/** JSON in an answer as Elasticsearch sends it. */
export function elasticsearchReply(head: RequestHead, body: string | Uint8Array): BareReply {
  return { kind: 'bare', status: 200, mediaType: mediaTypeFor(head), body, headers: [product] };
}
