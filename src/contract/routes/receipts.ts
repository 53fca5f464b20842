import { Type } from 'typebox';
import { oneOf } from '../resources/common.ts';
import { parameters } from '../resources/fields.ts';
import { get, one, sharing } from './route.ts';

/**
 * Request header of every ingest operation. The response carries the receipt in a header of the same name.
 */
export const receiptHeader = {
  'candor-receipt': Type.Optional(
    oneOf(
      ['sha256'],
      'Requests a signed receipt of the body. The response has it in the header Candor-Receipt: {receipt, key_id, signature} as JSON in base64url. Requires ack=durable.',
    ),
  ),
};
export const receiptHeaders = parameters(receiptHeader);

export const receiptRoutes = sharing({ tag: 'ingest', access: ['sensor', 'auditor', 'analyst', 'admin'] })({
  getReceipt: get(
    '/api/v1/receipts/:receipt_id',
    'Get a receipt with its proof of inclusion in the log; sensors may read only their own',
    { responses: one('receipt') },
  ),
});
