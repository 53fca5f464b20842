import { onlyLeaf } from '../../contract/query.ts';
import { ServiceError } from '../../errors.ts';
import type { Handler } from '../context.ts';
import { readable } from '../log-entries.ts';
import { logView } from '../log-view.ts';
import { jsonText } from '../reply.ts';
import type { Services } from '../services.ts';
import { writeProofBundle } from '../write-bundle.ts';

/** Everything that verifiers need offline. */
export const getProofBundle: Handler<'getProofBundle'> = async (context) => {
  const { services, query, refusal } = context;
  const view = await logView(context);
  const bundle = await readable(
    refusal,
    async () => services.ledger.bundle(onlyLeaf(query), await publishedCheckpoint(services), view),
    ({ leaf }) => leaf,
  );
  return jsonText(writeProofBundle(bundle));
};

/** Undefined where none is published: the log is empty or degraded, or has no quorum of witnesses yet. */
async function publishedCheckpoint(services: Services): Promise<string | undefined> {
  try {
    return await services.checkpoint();
  } catch (error) {
    if (error instanceof ServiceError && (error.code === 'UNAVAILABLE' || error.code === 'LOG_EMPTY'))
      return undefined;
    throw error;
  }
}
