import type { receiptRoutes } from '../../contract/routes/receipts.ts';
import type { LogView } from '../../ledger/ledger.ts';
import type { StoredReceipt } from '../../store/store.ts';
import type { Handlers } from '../context.ts';
import { logView } from '../log-view.ts';
import { found } from '../preconditions.ts';
import { resource } from '../reply.ts';
import type { Services } from '../services.ts';
import { signatureOf } from '../store-body.ts';
import { loggedProof, writeProofBundle } from '../write-bundle.ts';

export const receiptHandlers = {
  /** Returns a receipt. Sensors can read only their own receipts; for other receipts they get NOT_FOUND. */
  async getReceipt(context) {
    const { services, params, identity } = context;
    const id = params.receipt_id.toLowerCase();
    const stored = services.reader.getReceipt(id);
    const { principal, roles } = identity;
    const isHidden = roles.every((role) => role === 'sensor') && stored?.receipt.sensor.id !== principal.id;
    const receipt = found('receipt', id, isHidden ? undefined : stored);
    return resource('receipt', id, await writeReceipt(services, receipt, await logView(context)));
  },
} satisfies Handlers<typeof receiptRoutes>;

/**
 * Returns the attributes of a receipt as JSON text, because the head in the proof has a timestamp with more
 * digits than a double can represent.
 */
async function writeReceipt(services: Services, { receipt, batch }: StoredReceipt, view: LogView): Promise<string> {
  const signature = await signatureOf(services, receipt);
  const keys =
    signature === undefined ? [] : (await services.logReader.keys(view)).filter(({ kid }) => kid === signature.key_id);
  const proof = batch === undefined ? undefined : await loggedProof(services, batch.entry_id, view);
  const attributes = JSON.stringify({ receipt, ...signature, keys, batch });
  return proof === undefined ? attributes : `${attributes.slice(0, -1)},"proof":${writeProofBundle(proof)}}`;
}
