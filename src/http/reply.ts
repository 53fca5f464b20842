import { damagedRowsOf } from '../contract/damaged-rows.ts';
import type { ResourceType } from '../contract/resource-types.ts';
import type { DamagedEvents } from '../store/damage.ts';
import type { ListPage } from '../store/store.ts';

/** What a handler answers, before it has an envelope. */
export type Reply =
  | {
      readonly kind: 'resource';
      readonly status: 200 | 201 | 202;
      readonly type: ResourceType;
      readonly id: string;
      /** A text is JSON already, of integers that a double would print with other digits. */
      readonly attributes: object | string;
      /** Path of what was created. */
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
  /** Something that is no resource, beside its `meta`. */
  | {
      readonly kind: 'data';
      readonly data: unknown;
      readonly headers?: readonly Header[];
      readonly damagedRows?: number;
    }
  /** Without an envelope. */
  | {
      readonly kind: 'bare';
      readonly status: number;
      readonly mediaType: string;
      readonly body: string | Uint8Array;
      /** Others than the content type; a `Cache-Control` stands for the general `no-store`. */
      readonly headers?: readonly Header[];
    }
  /** Without an envelope, of a length that nobody knows yet. */
  | {
      readonly kind: 'stream';
      readonly mediaType: string;
      readonly chunks: Chunks;
      readonly headers: readonly Header[];
    }
  /** Of 304, what the client has still holds. */
  | { readonly kind: 'empty'; readonly status: 204 | 304; readonly headers?: readonly Header[] };

/** A body that is made while it is sent, a part at a time: whoever has it closes it, sent or not. */
export interface Chunks {
  /**
   * The next part, which may be empty; undefined behind the last. Not called again before it has come. A part is good until
   * the next is asked for, or there is to be none.
   */
  next(): Promise<Uint8Array | undefined>;
  /** No more is wanted: what it holds is given back. Harmless when repeated. */
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
/** Something has begun; `location` tells how far it is. */
export const accepted = (
  type: ResourceType,
  id: string,
  attributes: object | string,
  location: string,
): Reply => ({
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
/** How many damaged rows the result of a query lacks. */
function lacking(result: unknown): { readonly damagedRows?: number } {
  const rows = typeof result === 'object' && result !== null ? damagedRowsOf(result) : [];
  return rows.length === 0 ? {} : { damagedRows: rows.length };
}
export const bareJson = (value: unknown, status = 200): BareReply => jsonText(JSON.stringify(value), status);
/** JSON that is written already. */
export const jsonText = (body: string | Uint8Array, status = 200): BareReply => ({
  kind: 'bare',
  status,
  mediaType: json,
  body,
});
/** The reply with one more header, where there is one to add. */
export function withHeader(
  reply: Extract<Reply, { kind: 'data' | 'bare' }>,
  header: Header | undefined,
): Reply {
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

/** `now` is epoch milliseconds, `elapsedMs` the time since the request came. */
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
        headers: [
          reply.mediaType === json ? jsonHeader : ['Content-Type', reply.mediaType],
          ...(reply.headers ?? []),
        ],
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

/** The end of an envelope, its closing brace included. */
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

/** The items come as JSON from the pool and are not looked at again. */
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
  return Buffer.concat([
    Buffer.from('{"data":'),
    page.json,
    Buffer.from(`,"pagination":${pagination},${end}`),
  ]);
}
