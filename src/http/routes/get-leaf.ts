import { onlyLeaf } from '../../contract/query.ts';
import type { Handler } from '../context.ts';
import { readable, writeLeaf } from '../log-entries.ts';
import { logView } from '../log-view.ts';
import { jsonText } from '../reply.ts';

export const getLeaf: Handler<'getLeaf'> = async (context) => {
  const { services, query, refusal } = context;
  const view = await logView(context);
  const leaf = await readable(
    refusal,
    () => services.logReader.leaf(view, onlyLeaf(query)),
    (found) => found,
  );
  return jsonText(writeLeaf(leaf));
};
