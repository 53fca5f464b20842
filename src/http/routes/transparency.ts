import { writeList } from '../../contract/json-list.ts';
import { onlyLeaf } from '../../contract/query.ts';
import { transparencyRoutes } from '../../contract/routes/transparency.ts';
import { writeTreeHead } from '../../contract/write-tree-head.ts';
import { invalidField, ServiceError } from '../../errors.ts';
import type { EntriesQuery, LogView, PublicJwk } from '../../ledger/ledger.ts';
import { limits } from '../../limits.ts';
import { TlogError } from '../../tlog/fault.ts';
import { parseEntriesPath, parseTilePath } from '../../tlog/tile.ts';
import type { Handlers } from '../context.ts';
import { exportForm, exportList, type ListExportContext } from '../export-list.ts';
import { isPublicKind, keyHistoryKinds, leafItem, readable, writeLeaf } from '../log-entries.ts';
import { logView } from '../log-view.ts';
import { bareJson, jsonText, page, type Reply } from '../reply.ts';
import type { RequestHead } from '../request.ts';
import type { Services } from '../services.ts';
import { writeProofBundle } from '../write-bundle.ts';

export const transparencyHandlers = {
  /** Returns a tree head without an envelope, with the exact digits of its timestamp. */
  async getTreeHead(context) {
    const { services, query } = context;
    return jsonText(writeTreeHead(await services.logReader.head(await logView(context), query.tree_size)));
  },

  async getInclusionProof(context) {
    const { services, query } = context;
    const leaf = onlyLeaf(query);
    return bareJson(await services.logReader.inclusion(await logView(context), leaf, query.tree_size));
  },

  async getConsistencyProof(context) {
    const { services, query } = context;
    return bareJson(await services.logReader.consistency(await logView(context), query.first, query.second));
  },

  async getLeaf(context) {
    const { services, query, refusal } = context;
    const view = await logView(context);
    const leaf = await readable(
      refusal,
      () => services.logReader.leaf(view, onlyLeaf(query)),
      (found) => found,
    );
    return jsonText(writeLeaf(leaf));
  },

  /**
   * Lists tree heads. An export contains the heads that existed when its first page was read, because heads
   * are in ascending order.
   */
  async listTreeHeads(context) {
    const { logReader } = context.services;
    const view = await logView(context);
    const { page: number = 1, per_page = limits.defaultPerPage, ...range } = context.query;
    const form = exportForm(context.head);
    if (form !== undefined)
      return exportList<{ number: number; left: number }>(context, form, async (place) => {
        const { number, left } = place ?? { number: 1, left: undefined };
        const { heads, total } = await logReader.heads(view, {
          ...range,
          page: number,
          per_page: limits.maxPerPage,
        });
        const shown = heads.slice(0, left);
        const after = (left ?? total) - shown.length;
        const bytes = writeList(shown.map(headText), 'lines');
        return after > 0 && shown.length > 0 ? { bytes, next: { number: number + 1, left: after } } : { bytes };
      });
    const { heads, total } = await logReader.heads(view, { ...range, page: number, per_page });
    return page({ json: writeList(heads.map(headText)), total, page: number }, per_page);
  },

  /**
   * Lists log entries. Callers without the role must name the kinds, all of which must be public: a list
   * never omits entries silently. An export contains the entries that existed when its first page was read,
   * because entries are in ascending order.
   */
  async listEntries(context) {
    const { query, refusal } = context;
    const { kind: kinds, page: number, per_page, ...range } = query;
    if (refusal !== undefined && !kinds?.every(isPublicKind)) throw refusal;
    return listLeaves(context, { ...range, ...(kinds === undefined ? {} : { kinds }) });
  },

  /** Returns a proof bundle, which contains everything that verifiers need offline. */
  async getProofBundle(context) {
    const { services, query, refusal } = context;
    const view = await logView(context);
    const bundle = await readable(
      refusal,
      () => services.proofBundles.get(view, onlyLeaf(query)),
      ({ leaf }) => leaf,
    );
    return jsonText(writeProofBundle(bundle));
  },

  async getCheckpoint(context) {
    // Only counts the request as a read: the checkpoint is always that of a published head.
    await logView(context);
    return {
      kind: 'bare',
      status: 200,
      mediaType: transparencyRoutes.getCheckpoint.responses[200].mediaType,
      body: await context.services.checkpoint(),
      headers: [['Cache-Control', 'no-cache']],
    };
  },

  async getTile(context) {
    const { services, params } = context;
    const address = addressIn('tile', params.tile, parseTilePath);
    return tileReply(await services.logReader.tile(await logView(context), address), true);
  },

  async getEntryBundle(context) {
    const { services, params } = context;
    const { index, width } = addressIn('bundle', params.bundle, parseEntriesPath);
    const body = await services.logReader.entryBundle(await logView(context), index, width);
    return tileReply(body, services.policy.accessOf('getEntryBundle') === 'public');
  },

  /**
   * Lists the entries about keys. These entries are public, because auditors use them to follow the keys of the log.
   */
  listKeyHistory: async (context) => listLeaves(context, { kinds: keyHistoryKinds }),

  /** Lists all public keys ever used, oldest first. */
  async listPublicKeys(context) {
    const { services, query, head } = context;
    const { page: number = 1, per_page = limits.defaultPerPage } = query;
    const keys = await services.logReader.keys(await logView(context));
    const form = exportForm(head);
    if (form !== undefined)
      return exportList<number>(context, form, async (from = 0) => {
        const to = from + limits.maxPerPage;
        const bytes = writeList(keys.slice(from, to).map(keyItem), 'lines');
        return to < keys.length ? { bytes, next: to } : { bytes };
      });
    const shown = keys.slice((number - 1) * per_page, number * per_page);
    return page({ json: writeList(shown.map(keyItem)), total: keys.length, page: number }, per_page);
  },

  async getKeySet(context) {
    return bareJson({ keys: await context.services.logReader.currentKeys(await logView(context)) });
  },
} satisfies Handlers<typeof transparencyRoutes>;

/** Returns a tree head as an item of a list. Its id and attributes have the exact digits of the timestamp. */
function headText(head: Parameters<typeof writeTreeHead>[0]): string {
  const id = `${head.tree_size}-${BigInt(head.timestamp_ns)}`;
  return `{"id":"${id}","type":"tree_head","attributes":${writeTreeHead(head)}}`;
}

async function listLeaves(
  context: ListExportContext & {
    readonly services: Services;
    readonly head: RequestHead;
    readonly remoteAddress: string;
    readonly query: { readonly page?: number; readonly per_page?: number };
  },
  wanted: Omit<EntriesQuery, 'page' | 'per_page'>,
): Promise<Reply> {
  const { services, query, head } = context;
  const { page: number = 1, per_page = limits.defaultPerPage } = query;
  const view = await logView(context);
  const form = exportForm(head);
  if (form !== undefined)
    return exportList<{ from: number; left: number }>(context, form, async (place) => {
      const from = place === undefined ? {} : { from: place.from };
      const { leaves, total } = await services.logReader.entries(view, { ...wanted, ...from, ...exported });
      const shown = leaves.slice(0, place?.left);
      const left = (place?.left ?? total) - shown.length;
      const bytes = writeList(shown.map(leafItem), 'lines');
      const last = shown.at(-1);
      return last === undefined || left <= 0 ? { bytes } : { bytes, next: { from: last.leaf_index + 1, left } };
    });
  const { leaves, total } = await read(services, view, { ...wanted, page: number, per_page });
  return page({ json: writeList(leaves.map(leafItem)), total, page: number }, per_page);
}

/** The size of the pages of an export: the number of entries of maximum length that fit in one response. */
const exported = { page: 1, per_page: Math.floor(limits.maxEntriesPageBytes / limits.maxEntryBytes) };

const read = ({ logReader, metrics }: Services, view: LogView, query: EntriesQuery) =>
  logReader.entries(view, query).catch((error: unknown) => {
    // The schema has validated the parameter, so the error means that the entries of the page are too long.
    if (error instanceof ServiceError && error.details?.field === 'per_page')
      metrics.limitReached('maxEntriesPageBytes');
    throw error;
  });

const keyItem = (jwk: PublicJwk): string => JSON.stringify({ id: jwk.kid, type: 'public_key', attributes: jwk });

/**
 * Returns a reply with a tile. A tile of a given width never changes, even if it is partial. A tile that is
 * not public may be cached only by the client.
 */
const tileReply = (body: Uint8Array, isPublic: boolean): Reply => ({
  kind: 'bare',
  status: 200,
  mediaType: transparencyRoutes.getTile.responses[200].mediaType,
  body,
  headers: [['Cache-Control', `${isPublic ? 'public' : 'private'}, max-age=31536000, immutable`]],
});

/**
 * Parses the tile address in a path. Throws INVALID_REQUEST that names the parameter if the address does not
 * have the canonical form.
 */
function addressIn<T>(parameter: string, path: string, parse: (path: string) => T): T {
  try {
    return parse(path);
  } catch (error) {
    if (!(error instanceof TlogError)) throw error;
    throw invalidField(parameter, 'must be a tile path of C2SP tlog-tiles');
  }
}
