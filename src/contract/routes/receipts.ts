import { Type } from 'typebox';
import { success } from '../envelopes.ts';
import { oneOf } from '../resources/common.ts';
import { uuid } from '../resources/fields.ts';
import { closed, json, type Route } from './route.ts';

/**
 * Request header of every ingest operation. The response carries the receipt in a header of the same name.
 */
export const receiptHeader = {
  'candor-receipt': Type.Optional(
    oneOf(['sha256'], {
      description:
        'Requests a signed receipt of the body. The response has it in the header Candor-Receipt: {receipt, key_id, signature} as JSON in base64url. Requires ack=durable.',
    }),
  ),
};
export const receiptHeaders = Type.Object(receiptHeader, closed);

export const receiptRoutes = {
  getReceipt: {
    method: 'GET',
    path: '/api/v1/receipts/:receipt_id',
    summary: 'Get a receipt with its proof of inclusion in the log; sensors may read only their own',
    tag: 'ingest',
    access: ['sensor', 'auditor', 'analyst', 'admin'],
    params: Type.Object({ receipt_id: uuid('Identifier of the receipt.') }, closed),
    responses: { 200: json(success('receipt')) },
    errors: ['NOT_FOUND'],
  },
} as const satisfies Record<string, Route>;
