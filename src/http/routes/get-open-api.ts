import { openApiDocument } from '../../contract/openapi.ts';
import type { Handler } from '../context.ts';
import { jsonText } from '../reply.ts';

let written: { version: string; json: Buffer } | undefined;

export const getOpenApi: Handler<'getOpenApi'> = ({ services: { version } }) => {
  if (written?.version !== version) {
    written = { version, json: Buffer.from(JSON.stringify(openApiDocument(version))) };
  }
  return jsonText(written.json);
};
