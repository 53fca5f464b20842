import { writeTreeHead } from '../../contract/write-tree-head.ts';
import type { Handler } from '../context.ts';
import { logView } from '../log-view.ts';
import { jsonText } from '../reply.ts';

/** The bare head of the specification, its timestamp in exact digits. */
export const getTreeHead: Handler<'getTreeHead'> = async (context) => {
  const { services, query } = context;
  return jsonText(writeTreeHead(await services.logReader.head(await logView(context), query.tree_size)));
};
