import { jcs } from './jcs.ts';
import type { ReceiptStatement } from './resources/receipt.ts';

/**
 * The bytes of a receipt: signed, and a leaf of the tree whose root the log keeps. The first line keeps them apart from
 * entries, which the same key signs and which begin with a brace.
 */
export function receiptBytes(receipt: ReceiptStatement): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`candor-receipt/v1\n${jcs(receipt)}`);
}
