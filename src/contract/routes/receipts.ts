import { Type } from 'typebox';
import { success } from '../envelopes.ts';
import { oneOf } from '../resources/common.ts';
import { parameters, uuid } from '../resources/fields.ts';
import { json, type Route } from './route.ts';

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

export const receiptRoutes = {
  getReceipt: {
    method: 'GET',
    path: '/api/v1/receipts/:receipt_id',
    summary: 'Get a receipt with its proof of inclusion in the log; sensors may read only their own',
    tag: 'ingest',
    access: ['sensor', 'auditor', 'analyst', 'admin'],
    params: parameters({ receipt_id: uuid('Identifier of the receipt.') }),
    responses: { 200: json(success('receipt')) },
    errors: ['NOT_FOUND'],
  },
} as const satisfies Record<string, Route>;
