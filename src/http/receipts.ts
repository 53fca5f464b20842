import type { ReceiptStatement } from '../contract/resources/receipt.ts';
import type { ReceiptSignature } from '../ledger/ledger.ts';
import type { Header } from './reply.ts';
import type { Services } from './services.ts';

/** The receipt as the answer to an ingest body carries it. */
export async function receiptHeader(services: Services, receipt: ReceiptStatement): Promise<Header> {
  const signed = JSON.stringify({ receipt, ...(await signatureOf(services, receipt)) });
  return ['Candor-Receipt', Buffer.from(signed).toString('base64url')];
}

/**
 * The signature of a receipt by the current event key. Undefined while the log can't sign: the events and the receipt are
 * stored all the same, so the answer is still a success, and the signature can be fetched later.
 */
export async function signatureOf(
  { ledger, log }: Services,
  receipt: ReceiptStatement,
): Promise<ReceiptSignature | undefined> {
  try {
    return await ledger.signReceipt(receipt);
  } catch (error) {
    log.warn({ err: error, receipt_id: receipt.id }, 'a receipt was given without a signature');
    return undefined;
  }
}
