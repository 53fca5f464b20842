import { Type } from 'typebox';
import { anyObject, text } from '../resources/fields.ts';
import { receiptHeaders } from './receipts.ts';
import { closed, json, type Route } from './route.ts';

/** What exporters of OpenTelemetry and its collector send: OTLP/HTTP 1.x. */
export const otlpRoutes = {
  otlpLogs: {
    method: 'POST',
    path: '/v1/logs',
    summary: "Take sensors' records as log records of OpenTelemetry (OTLP/HTTP)",
    tag: 'shippers',
    protocol: 'otlp',
    access: ['sensor', 'admin'],
    query: Type.Object(
      { sensor: Type.Optional(text('Names the sender.', { minLength: 1, maxLength: 200 })) },
      closed,
    ),
    headers: receiptHeaders,
    body: {
      kind: 'ingest',
      mediaTypes: ['application/x-protobuf', 'application/json'],
      schema: anyObject(
        'An ExportLogsServiceRequest. A log record is read as the JSON object that is the text of its body, else as the key-value list that is its body, else as its attributes.',
      ),
    },
    responses: {
      200: json(
        anyObject(
          'An ExportLogsServiceResponse in the encoding of the request; partial_success tells of records that were rejected.',
        ),
      ),
    },
  },
} as const satisfies Record<string, Route>;
