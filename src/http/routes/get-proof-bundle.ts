import { onlyLeaf } from '../../contract/query.ts';
import type { Handler } from '../context.ts';
import { readable } from '../log-entries.ts';
import { logView } from '../log-view.ts';
import { jsonText } from '../reply.ts';
import { writeProofBundle } from '../write-bundle.ts';

/** Everything that verifiers need offline. */
export const getProofBundle: Handler<'getProofBundle'> = async (context) => {
  const { services, query, refusal } = context;
  const view = await logView(context);
  const bundle = await readable(
    refusal,
    () => services.proofBundles.get(view, onlyLeaf(query)),
    ({ leaf }) => leaf,
  );
  return jsonText(writeProofBundle(bundle));
};
