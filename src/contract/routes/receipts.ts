import { Type } from 'typebox';
import { success } from '../envelopes.ts';
import { oneOf } from '../resources/common.ts';
import { uuid } from '../resources/fields.ts';
import { closed, json, type Route } from './route.ts';

/** Request header of every ingest operation; the answer carries the receipt in a header of the same name. */
export const receiptHeader = {
  'candor-receipt': Type.Optional(
    oneOf(['sha256'], {
      description:
        'Asks for a signed receipt of the body, which comes in the answer as header Candor-Receipt: {receipt, key_id, signature} as JSON in base64url. Needs ack=durable.',
    }),
  ),
};
export const receiptHeaders = Type.Object(receiptHeader, closed);

export const receiptRoutes = {
  getReceipt: {
    method: 'GET',
    path: '/api/v1/receipts/:receipt_id',
    summary: 'A receipt with its proof of inclusion in the log; sensors see their own',
    tag: 'ingest',
    access: ['sensor', 'auditor', 'analyst', 'admin'],
    params: Type.Object({ receipt_id: uuid('The receipt.') }, closed),
    responses: { 200: json(success('receipt')) },
    errors: ['NOT_FOUND'],
  },
} as const satisfies Record<string, Route>;
