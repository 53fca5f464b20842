import { onlyLeaf } from '../../contract/query.ts';
import type { Handler } from '../context.ts';
import { readable, writeLeaf } from '../log-entries.ts';
import { jsonText } from '../reply.ts';

export const getLeaf: Handler<'getLeaf'> = async ({ services, query, refusal }) => {
  const leaf = await readable(
    refusal,
    () => services.ledger.leaf(onlyLeaf(query)),
    (found) => found,
  );
  return jsonText(writeLeaf(leaf));
};
