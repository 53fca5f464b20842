import type { ReceiptStatement } from '../contract/resources/receipt.ts';
import type { ReceiptSignature } from '../ledger/ledger.ts';
import type { Header } from './reply.ts';
import type { Services } from './services.ts';

/** Returns the receipt as a header of the response to an ingest body. */
export async function receiptHeader(services: Services, receipt: ReceiptStatement): Promise<Header> {
  const signed = JSON.stringify({ receipt, ...(await signatureOf(services, receipt)) });
  return ['Candor-Receipt', Buffer.from(signed).toString('base64url')];
}

/**
 * Signs a receipt with the current event key. Returns undefined while the log cannot sign: the events and the
 * receipt are stored, so the response is still a success, and the signature can be fetched later.
 */
export async function signatureOf(
  { ledger, log }: Services,
  receipt: ReceiptStatement,
): Promise<ReceiptSignature | undefined> {
  try {
    return await ledger.signReceipt(receipt);
  } catch (error) {
    log.warn({ err: error, receipt_id: receipt.id }, 'a receipt was returned without a signature');
    return undefined;
  }
}
