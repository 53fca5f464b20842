import { onlyLeaf } from '../../contract/query.ts';
import { writeTreeHead } from '../../contract/write-tree-head.ts';
import type { ProofBundle } from '../../ledger/ledger.ts';
import type { Handler } from '../context.ts';
import { bufferOf, readable } from '../log-entries.ts';
import { logView } from '../log-view.ts';
import { jsonText } from '../reply.ts';

export const getProofBundle: Handler<'getProofBundle'> = async (context) => {
  const { services, query, refusal } = context;
  const view = await logView(context);
  const bundle = await readable(
    refusal,
    () => services.ledger.bundle(onlyLeaf(query), view),
    ({ leaf }) => leaf,
  );
  return jsonText(writeProofBundle(bundle));
};

/** What verifiers read offline, as JSON with the head's timestamp in exact digits. */
export function writeProofBundle(bundle: ProofBundle): string {
  const { leaf_index, leaf_hash, canonical } = bundle.leaf;
  const texts = JSON.stringify({
    leaf_index,
    leaf_hash,
    canonical: bufferOf(canonical).toString('base64'),
    tree_size: bundle.head.tree_size,
    audit_path: bundle.audit_path,
    keys: bundle.keys,
  });
  return `${texts.slice(0, -1)},"head":${writeTreeHead(bundle.head)}}`;
}
