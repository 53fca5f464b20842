import { Type } from 'typebox';
import { anyObject, parameters, text } from '../resources/fields.ts';
import { receiptHeaders } from './receipts.ts';
import { json, post, sharing } from './route.ts';

/** OTLP/HTTP 1.x, as OpenTelemetry exporters and the OpenTelemetry Collector send it. */
export const otlpRoutes = sharing({ tag: 'shippers', protocol: 'otlp', access: ['sensor', 'admin'] })({
  otlpLogs: post('/v1/logs', 'Ingest records as OpenTelemetry log records (OTLP/HTTP)', {
    query: parameters({
      sensor: Type.Optional(text('Name of the sensor.', { minLength: 1, maxLength: 200 })),
    }),
    headers: receiptHeaders,
    body: {
      kind: 'ingest',
      mediaTypes: ['application/x-protobuf', 'application/json'],
      schema: anyObject(
        'An ExportLogsServiceRequest. The record is the JSON object in the text of the log record body, else the key-value list in its body, else its attributes.',
      ),
    },
    responses: {
      200: json(
        anyObject(
          'An ExportLogsServiceResponse in the encoding of the request; partial_success reports rejected records.',
        ),
      ),
    },
  }),
});
