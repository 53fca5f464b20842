import { damagedRowsOf } from '../contract/damaged-rows.ts';
import type { ResourceType } from '../contract/resource-types.ts';
import type { DamagedEvents } from '../database/damage.ts';
import type { ListPage } from '../store/store.ts';

/** A handler's result, before it is rendered with an envelope. */
export type Reply =
  | {
      readonly kind: 'resource';
      readonly status: 200 | 201 | 202;
      readonly type: ResourceType;
      readonly id: string;
      /**
       * The attributes. A string is serialised JSON, whose integers may have digits that a double would print
       * differently.
       */
      readonly attributes: object | string;
      /** The path of the created resource. */
      readonly location?: string;
      readonly damaged?: readonly DamagedEvents[];
      readonly damagedRows?: number;
    }
  | {
      readonly kind: 'page';
      readonly page: ListPage;
      readonly perPage: number;
      readonly damaged?: readonly DamagedEvents[];
      readonly damagedRows?: number;
    }
  /** Data other than a resource, in an envelope with `meta`. */
  | {
      readonly kind: 'data';
      readonly data: unknown;
      readonly headers?: readonly Header[];
      readonly damagedRows?: number;
    }
  /** A body without an envelope. */
  | {
      readonly kind: 'bare';
      readonly status: number;
      readonly mediaType: string;
      readonly body: string | Uint8Array;
      /** Headers other than the content type; `Cache-Control` replaces the general `no-store`. */
      readonly headers?: readonly Header[];
    }
  /** A body without an envelope, of a length that is not known in advance. */
  | {
      readonly kind: 'stream';
      readonly mediaType: string;
      readonly chunks: Chunks;
      readonly headers: readonly Header[];
    }
  /** A response without a body. Status 304 means that the client's cached copy is still valid. */
  | { readonly kind: 'empty'; readonly status: 204 | 304; readonly headers?: readonly Header[] };

/** A body produced in parts while it is sent. The owner must close the body, even if the body was not sent. */
export interface Chunks {
  /**
   * Returns the next part, which may be empty; undefined after the last part. Must not be called again before
   * the promise is settled. A part is valid until the next call of `next` or `close`.
   */
  next(): Promise<Uint8Array | undefined>;
  /** Frees the remaining parts. May be called repeatedly. */
  close(): void;
}

export type Header = readonly [name: string, value: string];

export type BareReply = Extract<Reply, { kind: 'bare' }>;

export const resource = (type: ResourceType, id: string, attributes: object | string): Reply => ({
  kind: 'resource',
  status: 200,
  type,
  id,
  attributes,
  ...lacking(attributes),
});
export const created = (type: ResourceType, id: string, attributes: object, location: string): Reply => ({
  kind: 'resource',
  status: 201,
  type,
  id,
  attributes,
  location,
});
/** Returns the reply for work that has begun. The resource at `location` shows its progress. */
export const accepted = (type: ResourceType, id: string, attributes: object | string, location: string): Reply => ({
  kind: 'resource',
  status: 202,
  type,
  id,
  attributes,
  location,
});
export const page = (list: ListPage, perPage: number): Reply => ({
  kind: 'page',
  page: list,
  perPage,
  ...lacking(list),
});
export const data = (value: unknown): Extract<Reply, { kind: 'data' }> => ({
  kind: 'data',
  data: value,
  ...lacking(value),
});
/** Returns the number of damaged rows that are missing from a query's result. */
function lacking(result: unknown): { readonly damagedRows?: number } {
  const rows = typeof result === 'object' && result !== null ? damagedRowsOf(result) : [];
  return rows.length === 0 ? {} : { damagedRows: rows.length };
}
export const bareJson = (value: unknown, status = 200): BareReply => jsonText(JSON.stringify(value), status);
/** Returns a reply with JSON that is already serialised. */
export const jsonText = (body: string | Uint8Array, status = 200): BareReply => ({
  kind: 'bare',
  status,
  mediaType: json,
  body,
});
/** Returns the reply with an additional header, if one is given. */
export function withHeader(reply: Extract<Reply, { kind: 'data' | 'bare' }>, header: Header | undefined): Reply {
  return header === undefined ? reply : { ...reply, headers: [...(reply.headers ?? []), header] };
}
export const noContent = { kind: 'empty', status: 204 } as const satisfies Reply;

/** A reply ready for the wire. */
export interface Rendered {
  readonly status: number;
  readonly headers: readonly Header[];
  readonly body: string | Uint8Array | Chunks | undefined;
}

const json = 'application/json';
export const jsonHeader: Header = ['Content-Type', json];

/** Renders a reply. `now` is epoch milliseconds, `elapsedMs` the time since the request arrived. */
export function render(reply: Reply, now: number, elapsedMs: number): Rendered {
  const end = meta(now, elapsedMs, reply);
  switch (reply.kind) {
    case 'resource': {
      const { type, id, attributes, location, status } = reply;
      const headers = [jsonHeader];
      if (location !== undefined) headers.push(['Location', location]);
      if (typeof attributes === 'string') {
        const body = `{"data":{"id":"${id}","type":"${type}","attributes":${attributes}},${end}`;
        return { status, headers, body };
      }
      if ('version' in attributes && typeof attributes.version === 'number') {
        headers.push(['ETag', `"${attributes.version}"`]);
      }
      const body = `{"data":${JSON.stringify({ id, type, attributes })},${end}`;
      return { status, headers, body };
    }
    case 'page':
      return { status: 200, headers: [jsonHeader], body: renderPage(reply, end) };
    case 'data': {
      const body = `{"data":${JSON.stringify(reply.data)},${end}`;
      return { status: 200, headers: [jsonHeader, ...(reply.headers ?? [])], body };
    }
    case 'bare':
      return {
        status: reply.status,
        headers: [reply.mediaType === json ? jsonHeader : ['Content-Type', reply.mediaType], ...(reply.headers ?? [])],
        body: reply.body,
      };
    case 'stream':
      return {
        status: 200,
        headers: [['Content-Type', reply.mediaType], ...reply.headers],
        body: reply.chunks,
      };
    case 'empty':
      return { status: reply.status, headers: reply.headers ?? [], body: undefined };
  }
}

/** Returns the end of an envelope, including its closing brace. */
function meta(now: number, elapsedMs: number, reply: Reply): string {
  const timestamp = new Date(now).toISOString();
  const damaged = ('damaged' in reply ? reply.damaged : undefined) ?? [];
  const rows = 'damagedRows' in reply ? `,"damaged_rows":${reply.damagedRows}` : '';
  const left = damaged.map(({ rows, from, to }) => ({ events: rows, from: timeOf(from), to: timeOf(to) }));
  const events = left.length === 0 ? '' : `,"damaged_events":${JSON.stringify(left)}`;
  return `"meta":{"timestamp":"${timestamp}","query_time_ms":${Math.max(0, Math.round(elapsedMs))}${events}${rows}}}`;
}

const timeOf = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(ms).toISOString();

/** Writes a page. The pool has already written the items as JSON, which is not parsed again. */
function renderPage({ page, perPage }: Extract<Reply, { kind: 'page' }>, end: string): Uint8Array {
  const pages = Math.ceil(page.total / perPage);
  const pagination = JSON.stringify({
    page: page.page,
    per_page: perPage,
    total: page.total,
    total_pages: pages,
    has_next: page.next_cursor !== undefined || page.page < pages,
    has_prev: page.page > 1,
    next_cursor: page.next_cursor,
  });
  return Buffer.concat([Buffer.from('{"data":'), page.json, Buffer.from(`,"pagination":${pagination},${end}`)]);
}
