import { jcs } from './jcs.ts';
import type { ReceiptStatement } from './resources/receipt.ts';

/**
 * Returns the bytes of a receipt. The bytes are signed, and are a leaf of the tree whose root is logged. The same key
 * signs receipts and entries: the first line distinguishes a receipt from an entry, which starts with a brace.
 */
export function receiptBytes(receipt: ReceiptStatement): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`candor-receipt/v1\n${jcs(receipt)}`);
}
