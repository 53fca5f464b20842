import { jcs } from './jcs.ts';
import type { ReceiptStatement } from './resources/receipt.ts';

/**
 * Returns the bytes of a receipt, which are signed and are a leaf of the tree whose root is logged. The first
 * line separates receipts from entries, which the same key signs and which start with a brace.
 */
export function receiptBytes(receipt: ReceiptStatement): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`candor-receipt/v1\n${jcs(receipt)}`);
}
