import { onlyLeaf } from '../../contract/query.ts';
import type { Handler } from '../context.ts';
import { jsonText } from '../reply.ts';

/** `entry` is spliced in as it was hashed, so that no number in it is printed anew. */
export const getLeaf: Handler<'getLeaf'> = async ({ services, query }) => {
  const { leaf_index, leaf_hash, canonical } = await services.ledger.leaf(onlyLeaf(query));
  const bytes = Buffer.from(canonical.buffer, canonical.byteOffset, canonical.byteLength);
  const head = JSON.stringify({ leaf_index, leaf_hash, canonical: bytes.toString('base64') });
  return jsonText(`${head.slice(0, -1)},"entry":${bytes.toString('utf8')}}`);
};
